/**
 * What some program takes for the end of data, and none should. The first eight are every wrong pair of line endings
 * around a dot.
 */
export const WRONG_ENDS = [
  '\n.\n',
  '\n.\r\n',
  '\r\n.\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\r',
  '\n.\r',
  '\r.\n',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\r\n.\r\0\n',
  '\r\r\n.\r\r\n',
  '\r\n.\r\r\n',
  '\r\n.\n\r\n',
  '\n\r.\r\n\r',
] as const;

/** A second message behind such an end. */
export const SMUGGLED =
  'MAIL FROM:<evil@x.test>\r\nRCPT TO:<b@y.test>\r\nDATA\r\nSubject: second\r\n\r\nsecond\r\n.\r\n';
