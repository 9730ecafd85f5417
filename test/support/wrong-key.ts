/** A key that differs from `key` in its last character, whatever that is: its checksum is wrong. */
export const wrongKey = (key: string): string => `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
