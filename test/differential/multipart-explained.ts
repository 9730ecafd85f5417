/** What explains a disagreement about a form; each has its rows in `multipart-cases.ts`. */

/** The reasons we give for refusing what another reader takes. */
export const JUDGED_REFUSALS: readonly RegExp[] = [
  /there is text after a boundary/,
  /parts follow its last boundary/,
  /ends before its last boundary/,
  /there is a boundary in its header/,
  /has no Content-Disposition/,
  /its Content-Disposition is/,
  /has no name/,
  /has two "/,
  /its Content-Type is malformed/,
  /its header line .* must be of the form/s,
  /its filename\* /,
  /the parameter .* is not accepted/s,
  /not valid UTF-8/,
  /Content-Transfer-Encoding .* is not accepted/s,
  /must be UTF-8/,
];

/** What a form that we take holds when another reader loses or refuses a part of it. */
export const JUDGED_TEXTS: readonly RegExp[] = [
  // Padding behind a boundary.
  /(?:^|\r\n)--xYz[ \t]+\r\n/,
  // A part without a body.
  /\r\n[^\r\n]+\r\n\r\n--xYz/,
  // An empty parameter, or a semicolon at the end.
  /form-data[^\r]*;[ \t]*(?:;|\r\n)/i,
  /filename\*=/,
  // A blank or a semicolon behind a media type.
  /Content-Type: [^\r]*[; \t]\r\n/,
];
