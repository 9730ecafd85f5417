/** A file of its own: `installation.ts` serves programs that are no tests, too. */
import { afterEach, beforeEach, describe } from 'vitest';
import type { Installation, Running } from './installation.ts';

/** Describes what the command line does the same way, whether the server runs or not; `here` has a new one for each test. */
export function withAndWithoutServer(here: () => Installation, tests: (running: boolean) => void): void {
  describe.each([{ running: true }, { running: false }])('server running: $running,', ({ running }) => {
    let server: Running | null = null;
    beforeEach(async () => {
      server = running ? await here().startServer() : null;
    });
    afterEach(async () => {
      await server?.close();
    });
    tests(running);
  });
}
