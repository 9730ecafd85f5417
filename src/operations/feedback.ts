import { z } from 'zod';
import { type Answers, type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** What others told of mail after its delivery, and how it came. */

const feedbackText = ({ feedbackEntrySchema }: Answers) =>
  z.strictObject({
    ...feedbackEntrySchema.shape,
    /** The first 64 KiB of what came. Hostile: anybody may have written it. */
    text: z.string(),
  });

/** See {@link FEEDBACK_OPERATIONS}. */
export type FeedbackText = Shown<typeof feedbackText>;

/** What operators can ask of it. */
export const FEEDBACK_OPERATIONS = {
  messageFeedback: operation({
    meaning: 'What others told of a message, such as bounces and complaints, the newest first.',
    access: READ,
    request: z.strictObject({ id: z.string().min(1).max(1000) }),
    result: ({ feedbackListSchema: list }) => list,
  }),
  feedbackText: operation({
    meaning:
      'What came when something was told of mail: a bounce message, a feedback report, the body of a webhook. As text.',
    access: READ,
    request: z.strictObject({ id: z.string().max(100).describe('`fbk_…`.') }),
    result: feedbackText,
  }),
};

/** Those who carry them out. */
export type FeedbackOperations = OperationsOf<typeof FEEDBACK_OPERATIONS>;
