import { z } from 'zod';
import { text } from './command.ts';
import { CONFIDENTIAL, changes, type OperationsOf, operation, type Shown } from './operation.ts';

/** The hooks of relays: where their providers tell what became of mail. */

const hookView = () =>
  z.strictObject({
    relay: z.string(),
    type: z.string(),
    /** The whole URL, with its token. */
    url: z.string(),
    /** False without `server.public_url`: the URL has a placeholder in place of the server's name. */
    isReachable: z.boolean(),
    /** When the last of the former tokens ends; null without one. */
    formerUntil: z.string().nullable(),
    /** Settings of the relay that are missing: without them, everything that comes is refused. */
    missing: z.array(z.string()),
    /** When a provider last proved a request, on any node, to within hours; null for never. */
    lastProvenAt: z.string().nullable(),
    /** When a request with the right token was last refused, on this node since its start; null for never. */
    lastRefusedAt: z.string().nullable(),
  });

/** The hook of a relay, with its secret path. */
export type HookView = Shown<typeof hookView>;

const WHICH = text('<name>', "the relay's name");

/** What is said of a hook. */
export function hookText({ relay, type, url, isReachable, formerUntil, missing, ...last }: HookView): string {
  return [
    `Hook of ${relay} (${type}):`,
    `  ${url}`,
    'Whoever knows it may use it: show it to the provider alone.',
    ...(isReachable ? [] : ['Set server.public_url to see the whole URL.']),
    ...(missing.length === 0
      ? []
      : [
          `It refuses everything until the relay has ${missing.join(' and ')}. See: waybill relays edit --help`,
        ]),
    ...(formerUntil === null ? [] : [`The URL that it had before works until ${formerUntil}.`]),
    `Last proven: ${last.lastProvenAt ?? 'never'}`,
    ...(last.lastRefusedAt === null ? [] : [`Last refused: ${last.lastRefusedAt}`]),
  ].join('\n');
}

/** What operators can ask of hooks. */
export const RELAY_HOOK_OPERATIONS = {
  relayHook: operation({
    meaning: "The URL of a relay's hook, where its provider tells what became of mail, and when it last did.",
    access: CONFIDENTIAL,
    request: z.strictObject({ name: z.string() }),
    result: hookView,
    commands: [
      {
        words: 'relays hook show',
        summary:
          'show the URL for the webhooks of a provider, and when it was last used; the same as show --hook',
        examples: ['waybill relays hook show grid'],
        takes: { name: WHICH },
        prints: hookText,
      },
    ],
  }),
  rotateRelayHook: operation({
    meaning: "Gives a relay's hook another URL. The old one works for 24 more hours.",
    access: changes({ words: "Rotated a relay's hook", subject: 'name', touches: ['relays'] }),
    request: z.strictObject({ name: z.string() }),
    result: hookView,
    commands: [
      {
        words: 'relays hook rotate',
        summary: 'give the hook another URL; the old one works for 24 more hours',
        examples: ['waybill relays hook rotate grid'],
        takes: { name: WHICH },
        prints: hookText,
      },
    ],
  }),
};

/** Those who carry them out. */
export type RelayHookOperations = OperationsOf<typeof RELAY_HOOK_OPERATIONS>;
