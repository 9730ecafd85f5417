import { z } from 'zod';
import { messageRecordSchema } from './answers.ts';

/** What answers tell of captured mail: described once, for the API's description. */

/** A captured message with what it says. */
export const capturedMessageSchema = z
  .object({
    message: messageRecordSchema,
    text: z.string().nullable().describe('Null when it has none. Long texts are cut.'),
    html: z.string().nullable().describe('Null when it has none. Long ones are cut.'),
    links: z
      .array(z.object({ url: z.string(), text: z.string().describe('What a reader sees of it.') }))
      .describe('Web addresses in HTML and text, in their order; at most 100.'),
    codes: z
      .array(z.string())
      .describe('What looks like a code to be typed in, the likeliest first; at most 10.'),
    attachments: z.array(
      z.object({
        filename: z.string(),
        contentType: z.string(),
        sizeBytes: z.int().min(0),
        inline: z.boolean(),
        contentId: z.string().nullable(),
      }),
    ),
  })
  .describe('A captured message, and what it says.');
