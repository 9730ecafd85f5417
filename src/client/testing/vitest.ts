/**
 * `waybill/client/testing/vitest`: adds the matchers to Vitest's `expect`, and their types to it. The one file of the
 * client that imports what is not ours when it runs; only tests in Vitest load it.
 */
import { expect } from 'vitest';
import { type MailMatchers, matchers } from './matchers.ts';

expect.extend(matchers);

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void>, T> extends MailMatchers<R> {}
}
