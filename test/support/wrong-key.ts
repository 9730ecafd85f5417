import { generateSecret } from '../../src/lib/id.ts';

/** A key that differs from `key` in its last character, whatever that is: its checksum is wrong. */
export const wrongKey = (key: string): string => `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;

/** Two keys with right checksums, the same but for the last of their 43 random characters and the checksum. */
export function twinKeys(): [string, string] {
  const endingIn = (last: number) => {
    const fill = (bytes: Uint8Array) => bytes.fill(7, 0, -1).fill(last, -1);
    return generateSecret({ next: () => 0, fill }, 'live');
  };
  return [endingIn(1), endingIn(2)];
}
