import { z } from 'zod';
import { text } from './command.ts';
import { CONFIDENTIAL, changes, MAIL_TOPICS, type OperationsOf, operation, type Shown } from './operation.ts';

/** `failed`: it ended before everything was looked through. */
const ERASURE_STATES = ['working', 'waiting', 'done', 'failed'] as const;

const erasureView = () =>
  z.strictObject({
    id: z.string(),
    /** What stands in the person's place: a keyed hash in the form of an address. */
    pseudonym: z.string(),
    state: z.enum(ERASURE_STATES),
    requestedAt: z.string(),
    finishedAt: z.string().nullable(),
    /** What is being looked through; null once it has ended. */
    step: z.string().nullable(),
    /** How many steps are behind it, and of how many. */
    stepsDone: z.number(),
    steps: z.number(),
    /** Records that were rewritten or removed. */
    changed: z.number(),
    /** What it waits for, what is left to do by hand, or why it failed; null: nothing. */
    notice: z.string().nullable(),
  });

/** How far erasing a person has come. */
export type ErasureView = Shown<typeof erasureView>;

const erasureList = () => z.strictObject({ erasures: z.array(erasureView()) });

/** Longer addresses are nobody's. */
const MAX_ADDRESS = 1000;

const wholeAddress = () => z.string().min(1).max(MAX_ADDRESS).describe('A whole address.');

/** Most messages that are counted for a preview. */
export const MAX_PREVIEWED = 10_000;

const erasurePreview = () =>
  z.strictObject({
    /** As it is looked for: lower case, its domain in A-labels. */
    address: z.string(),
    pseudonym: z.string(),
    /** Messages to the address, and from it: at most {@link MAX_PREVIEWED} each. */
    to: z.number(),
    from: z.number(),
    /** Of those to it, those that are not final: they are cancelled, or waited for if they go to others, too. */
    waiting: z.number(),
    /** There may be more messages than were counted. */
    more: z.boolean(),
    /** Entries of the suppression list, which stay under the pseudonym. */
    suppressions: z.number(),
  });

/** What erasing a person would touch. */
export type ErasurePreview = Shown<typeof erasurePreview>;

/** What can be asked for the people whose mail passes through. */
export const PRIVACY_OPERATIONS = {
  erasePerson: operation({
    meaning:
      'Erases a person: every record that names the address is rewritten to a keyed hash, or removed, with the contents of the mail to it and from it. Begins at once, and goes on by itself; `listErasures` tells how far it is.',
    access: changes({
      words: 'Erased a person',
      // The activity must not name whom it was about.
      subject: null,
      hide: ['address'],
      touches: [...MAIL_TOPICS, 'suppressions', 'activity'],
    }),
    request: z.strictObject({
      address: wholeAddress(),
    }),
    result: erasureView,
    commands: [
      {
        words: 'privacy erase',
        summary: 'erase everything that is kept of a person',
        examples: ['waybill privacy erase ann@example.org'],
        notes:
          'This cannot be undone. It begins at once and goes on in the background: waybill privacy list shows how far it is.\nwaybill privacy preview shows beforehand what it would touch.',
        takes: { address: text('<address>', 'the whole address of the person') },
        prints: ({ pseudonym }) =>
          `Erasing; ${pseudonym} takes the address’s place. See: waybill privacy list`,
      },
    ],
  }),
  previewErasure: operation({
    meaning:
      'What erasing a person would touch, as far as it is found at once: messages to and from the address, and entries of the suppression list.',
    access: CONFIDENTIAL,
    request: z.strictObject({ address: wholeAddress() }),
    result: erasurePreview,
    commands: [
      {
        words: 'privacy preview',
        summary: 'tell what erasing a person would touch',
        examples: ['waybill privacy preview ann@example.org'],
        takes: { address: text('<address>', 'the whole address of the person') },
        prints: previewText,
      },
    ],
  }),
  listErasures: operation({
    meaning: 'People who were erased, or are being erased, the newest first; at most 100.',
    access: CONFIDENTIAL,
    request: z.strictObject({}),
    result: erasureList,
    commands: [
      {
        words: 'privacy list',
        summary: 'tell how far erasing people has come',
        examples: ['waybill privacy list'],
        takes: {},
        prints: ({ erasures }) => erasures.map(erasureText).join('\n\n') || 'Nobody was erased.',
      },
    ],
  }),
};

function previewText({ address, pseudonym, to, from, waiting, more, suppressions }: ErasurePreview): string {
  const many = more ? ', or more' : '';
  return [
    `${address} would become ${pseudonym}.`,
    `  messages to it:       ${to}${many}${waiting > 0 ? `; ${waiting} of them not final` : ''}`,
    `  messages from it:     ${from}${many}`,
    `  suppression entries:  ${suppressions}, which go on stopping mail to it`,
    'What names it elsewhere is found when it is erased.',
  ].join('\n');
}

function erasureText({
  pseudonym,
  state,
  requestedAt,
  finishedAt,
  step,
  changed,
  notice,
}: ErasureView): string {
  const how = finishedAt === null ? `${state}, at ${step ?? ''}` : `${state} ${finishedAt}`;
  const lines = [`${pseudonym}: ${how}`, `  asked for ${requestedAt}; records changed: ${changed}`];
  return [...lines, ...(notice === null ? [] : [`  ${notice}`])].join('\n');
}

/** Those who carry them out. */
export type PrivacyOperations = OperationsOf<typeof PRIVACY_OPERATIONS>;
