import { z } from 'zod';
import { BOUNCE_TYPES, type Feedback, feedbackText, NO_FACTS, NO_MESSAGE } from '../../domain/feedback.ts';
import { parseAddress } from '../../domain/mailbox.ts';
import { parseTimestamp } from '../../lib/clock.ts';
import { readMessageIdField } from '../../mail/feedback-fields.ts';

/** The JSON body of `POST /api/v1/feedback` (contract A3), and what it says. */

/** What the API may be told of; other kinds only come by mail and from providers. */
const KINDS = ['bounce', 'complaint', 'unsubscribe', 'confirmation'] as const;
/** The members that name the message: exactly one of them is given. */
const NAMES = ['id', 'messageId', 'providerMessageId'] as const;
/** The members that only a bounce has. */
const BOUNCE_MEMBERS = ['bounceType', 'code', 'enhancedCode', 'text'] as const;
/** Characters of an id of ours, in either form. */
const MAX_ID = 64;
/** Characters of a provider's id; the longest known have about 100. */
const MAX_PROVIDER_ID = 500;
/** Characters of an address, brackets and quotes included. */
const MAX_ADDRESS = 1000;
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}$/;
const MIN_CODE = 400;
const MAX_CODE = 599;

type Transformed<T> = { readonly value: T } | { readonly fault: string };

/** Text that `read` turns into a value, or says why it cannot. */
function readText<T>(text: z.ZodString, read: (text: string) => Transformed<T>) {
  return text.transform((given, context) => {
    const result = read(given);
    if ('value' in result) return result.value;
    context.issues.push({ code: 'custom', input: given, message: result.fault });
    return z.NEVER;
  });
}

const recipient = readText(z.string().max(MAX_ADDRESS), (text) => {
  const parsed = parseAddress(text);
  return parsed.ok ? { value: parsed.value.address } : { fault: parsed.detail };
});

const messageId = readText(z.string().max(MAX_ADDRESS), (text) => {
  const value = readMessageIdField(text.trim());
  return value === null ? { fault: 'Must be a Message-ID, such as "<1@example.com>".' } : { value };
});

const time = readText(z.string(), (text) => {
  const value = parseTimestamp(text);
  return value === null ? { fault: 'Must be an RFC 3339 time, such as "2026-11-20T11:15:00Z".' } : { value };
});

// biome-ignore format: a table
const members = z.strictObject({
  kind: z.enum(KINDS).meta({ description: 'What happened to the mail.' }),
  recipient: recipient.meta({ description: 'Whom it is about: the address that the message was sent to.', examples: ['ann@example.org'] }),
  id: z.string().min(1).max(MAX_ID).nullish().meta({ description: 'Our id of the message. Exactly one of id, messageId and providerMessageId is required.', examples: ['msg_01kaj3v7q8x5m2c9t4r6w0ybzn'] }),
  messageId: messageId.nullish().meta({ description: 'The message’s Message-ID field.', examples: ['<1@example.com>'] }),
  providerMessageId: z.string().min(1).max(MAX_PROVIDER_ID).nullish().meta({ description: 'What the provider called it that the message was sent through.' }),
  bounceType: z.enum(BOUNCE_TYPES).nullish().meta({ description: 'What the bounce means for the address; decided from the codes and the text when absent.' }),
  code: z.int().min(MIN_CODE).max(MAX_CODE).nullish().meta({ description: 'The SMTP reply code of a bounce.', examples: [550] }),
  enhancedCode: z.string().regex(ENHANCED, 'Must be an enhanced status code (RFC 3463), such as "5.1.1".').nullish().meta({ description: 'The enhanced status code of a bounce (RFC 3463).', examples: ['5.1.1'] }),
  text: z.string().nullish().meta({ description: 'What the other server said of a bounce; the first 500 characters are kept, on one line.', examples: ['no such user'] }),
  at: time.nullish().meta({ description: 'When it happened (RFC 3339); now when absent.', format: 'date-time', examples: ['2026-11-20T11:15:00Z'] }),
});

type Members = z.output<typeof members>;

/** The body of `POST /api/v1/feedback` as JSON; null equals absent. */
export const feedbackBodySchema = members
  .superRefine((body, context) => {
    const named = NAMES.filter((name) => isGiven(body[name]));
    if (named.length !== 1)
      context.addIssue({
        code: 'custom',
        path: named.length === 0 ? [] : [named[1] ?? ''],
        message: 'Exactly one of "id", "messageId" and "providerMessageId" must name the message.',
      });
    if (body.kind === 'bounce') return;
    for (const member of BOUNCE_MEMBERS.filter((name) => isGiven(body[name])))
      context.addIssue({ code: 'custom', path: [member], message: 'Only a bounce has this; leave it out.' });
  })
  .describe('Something that another system was told of mail that Waybill sent.');

function isGiven(value: Members[keyof Members]): boolean {
  return value !== null && value !== undefined;
}

/** What a body says. */
export function feedbackOfBody(body: z.output<typeof feedbackBodySchema>): Feedback {
  const { kind, recipient, id = null, messageId = null, providerMessageId = null, at = null } = body;
  const { bounceType: type = null, code = null, enhancedCode = null } = body;
  return {
    kind,
    source: 'api',
    message: { ...NO_MESSAGE, id, messageId, providerMessageId },
    recipient,
    bounce: kind === 'bounce' ? { type, code, enhancedCode, text: feedbackText(body.text ?? '') } : NO_FACTS,
    at,
  };
}
