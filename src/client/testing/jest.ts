/**
 * `waybill/client/testing/jest`: adds the matchers to Jest's `expect`, and their types to it, whether a test imports
 * `expect` from `@jest/globals` or has it from `@types/jest`.
 */
import type {} from 'expect';
import { type MailMatchers, matchers } from './matchers.ts';

/** Jest's, as a test file has it. */
interface Expect {
  extend(added: typeof matchers): void;
}

const { expect } = globalThis as { readonly expect?: Expect };
if (expect === undefined)
  throw new Error(
    'Jest has no global expect here: without injectGlobals, say expect.extend(matchers), with matchers of waybill/client/testing.',
  );
expect.extend(matchers);

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T> extends MailMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R, T> extends MailMatchers<R> {}
  }
}
