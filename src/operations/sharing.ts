import { z } from 'zod';
import { flag, integer, text } from './command.ts';
import { acts, type OperationsOf, operation, READ, type Shown, told } from './operation.ts';

/** Hours that a link to a story lasts, unless its maker says otherwise, and at most. */
export const USUAL_HOURS = 7 * 24;
const MAX_HOURS = 30 * 24;

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

const storyLink = () =>
  z.strictObject({
    /** Names it; not what opens the story. */
    id: z.string(),
    /** The message's id. */
    message: z.string(),
    /** The user or key that made it; empty: somebody at the command line. */
    madeBy: z.string(),
    /** It shows subject and content, too. */
    content: z.boolean(),
    createdAt: z.string(),
    expiresAt: z.string(),
  });

/** A link to a message's story, without what opens it. */
export type StoryLinkView = Shown<typeof storyLink>;

const newStoryLink = () =>
  z.strictObject({
    ...storyLink().shape,
    /** The dashboard's path with the token in its fragment, such as `/story#…`: never sent to a server by a browser. */
    path: z.string(),
    /** The same with the host, as far as it is known how the dashboard is reached; null when its port is off. */
    url: z.string().nullable(),
  });

/** A new link, which is told once. */
export type NewStoryLink = Shown<typeof newStoryLink>;

/** What is kept of a link in the activity. */
const keptOf = ({ message, content, expiresAt }: StoryLinkView) => ({ message, content, expiresAt });

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
  storyLinks: operation({
    meaning: "The links to a message's story that have not ended, the newest first.",
    access: READ,
    request: z.strictObject({ id: z.string().max(64).describe("The message's id.") }),
    result: () => z.array(storyLink()),
    commands: [
      {
        words: 'messages links',
        summary: "show the links to a message's story that have not ended",
        examples: ['waybill messages links msg_01k…'],
        takes: { id: text('<id>', "the message's id") },
        prints: (links) =>
          links
            .map(
              ({ id, madeBy, content, expiresAt }) =>
                `${id} until ${expiresAt}, ${content ? 'with' : 'without'} content, made by ${madeBy || 'the command line'}`,
            )
            .join('\n') || 'There are none.',
      },
    ],
  }),
  makeStoryLink: operation({
    meaning:
      "Makes a link that shows a message's story to whoever has it, without signing in: what became of each recipient, also of those in Bcc, when, and what was replied. Subject and content only where that is asked for.",
    access: acts({
      words: "Made a link to a message's story",
      subject: 'id',
      told: told((link: NewStoryLink) => [undefined, keptOf(link)]),
      touches: ['messages'],
    }),
    request: z.strictObject({
      id: z.string().max(64).describe("The message's id."),
      hours: z
        .int()
        .min(1)
        .max(MAX_HOURS)
        .default(USUAL_HOURS)
        .describe('How long it lasts; at most `webui.story_link_max_days` days.'),
      content: z.boolean().default(false).describe('It shows subject and content, too.'),
    }),
    result: newStoryLink,
    commands: [
      {
        words: 'messages share',
        summary: "make a link that shows a message's story without signing in",
        examples: ['waybill messages share msg_01k…', 'waybill messages share msg_01k… --hours 24 --content'],
        takes: {
          id: text('<id>', "the message's id"),
          hours: integer('--hours <n>', 'how long it lasts', [1, MAX_HOURS], { absent: USUAL_HOURS }),
          content: flag('--content', 'it shows subject and content, too'),
        },
        prints: ({ url, path, expiresAt, content }) =>
          [
            url ?? `https://HOST:PORT${path}`,
            '',
            `Whoever has it sees the message's story${content ? ' and content' : ', without subject and content'}, until ${expiresAt}.`,
          ].join('\n'),
      },
    ],
  }),
  endStoryLink: operation({
    meaning: "Ends a link to a message's story.",
    access: acts({
      words: "Ended a link to a message's story",
      subject: 'id',
      told: told((link: StoryLinkView) => [keptOf(link), undefined]),
      touches: ['messages'],
    }),
    request: z.strictObject({ id: z.string().max(64).describe('`stl_…`, as `storyLinks` tells it.') }),
    result: storyLink,
    commands: [
      {
        words: 'messages unshare',
        summary: "end a link to a message's story",
        examples: ['waybill messages unshare stl_01k…'],
        takes: { id: text('<link>', "the link's id: waybill messages links MESSAGE") },
        prints: ({ message }) => `The link to the story of ${message} no longer works.`,
      },
    ],
  }),
};

/** Those who carry them out. */
export type SharingOperations = OperationsOf<typeof SHARING_OPERATIONS>;
