import { z } from 'zod';
import { acts, type OperationsOf, operation, type Shown, told } from './operation.ts';

const sharedView = () =>
  z.strictObject({
    id: z.string(),
    page: z.string(),
    name: z.string(),
    /** Whose it is. */
    user: z.string(),
    shared: z.boolean(),
  });

/** A view that a user saved, as sharing shows it. */
export type SharedView = Shown<typeof sharedView>;

/** What operators show others. */
export const SHARING_OPERATIONS = {
  shareView: operation({
    meaning:
      'Shows one of the own saved views to everybody who uses the dashboard, or no longer; an administrator ends the sharing of any.',
    access: acts({
      words: 'Shared a saved view, or no longer',
      subject: 'id',
      told: told(({ page, name, user, shared }: SharedView) => [undefined, { page, name, user, shared }]),
      touches: ['views'],
    }),
    request: z.strictObject({ id: z.string().max(64), shared: z.boolean() }),
    result: sharedView,
  }),
};

/** Those who carry them out. */
export type SharingOperations = OperationsOf<typeof SHARING_OPERATIONS>;
