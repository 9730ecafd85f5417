import { z } from 'zod';
import { text } from './command.ts';
import { type OperationsOf, operation, READ } from './operation.ts';

/** Characters of a draft's short fields. */
const MAX_FIELD = 2_000;
/** Characters of its text, and of its HTML. */
const MAX_BODY = 2 * 1024 * 1024;
/** Fields of its header. */
const MAX_FIELDS = 100;

const draft = z.strictObject({
  from: z.string().max(MAX_FIELD).describe('As the header has it; empty where it is not known yet.'),
  subject: z.string().max(MAX_FIELD),
  html: z.string().max(MAX_BODY).nullable(),
  text: z.string().max(MAX_BODY).nullable(),
  headers: z
    .record(z.string().max(MAX_FIELD), z.string().max(MAX_FIELD))
    .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, `at most ${MAX_FIELDS} fields`)
    .optional(),
});

/** What is looked at before mail is sent. */
export const PREFLIGHT_OPERATIONS = {
  preflight: operation({
    meaning:
      'What may keep a message from being delivered, or from being read as it was meant: of a message whose content is kept, or of a draft. Changes and fetches nothing.',
    access: READ,
    request: z.union([z.strictObject({ id: z.string().max(1_000) }), z.strictObject({ draft })]),
    takesMessage: true,
    result: ({ findingSchema }) => z.strictObject({ findings: z.array(findingSchema) }),
    commands: [
      {
        words: 'messages check',
        summary: 'show what may keep a message from being delivered, or from being read as it was meant',
        examples: ['waybill messages check msg_01k…', 'waybill messages check msg_01k… --json'],
        notes:
          'What each finding means, and what to do: docs/preflight. Before sending: waybill send --dry-run',
        takes: { id: text('<id>', "the message's id, also as a UUID, or its Message-ID: '<…@…>'") },
        isBad: ({ findings }) => findings.some(({ severity }) => severity === 'error'),
      },
    ],
  }),
};

/** Those who carry them out. */
export type PreflightOperations = OperationsOf<typeof PREFLIGHT_OPERATIONS>;
