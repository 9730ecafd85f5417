import { hookNote, hookUrl, provenNote, relayHook, rotatedNote, timeInNote } from '../config/hook-tokens.ts';
import { HOOK_TYPES, type HookType } from '../domain/relay.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { HookView, RelayHookOperations } from '../operations/relay-hooks.ts';
import type { LocalDeps } from './deps.ts';
import { putIntoForce, requireGoodSources } from './in-force.ts';
import { noSuchRelay } from './relay-views.ts';

/** Fields of a relay that its hook needs, each with its name among the settings of a hook. */
const NEEDED = {
  ses: [],
  sendgrid: [['publicKey', 'webhook_public_key']],
  mailgun: [['secret', 'webhook_secret']],
  postmark: [
    ['username', 'webhook_username'],
    ['secret', 'webhook_secret'],
  ],
  resend: [['secret', 'webhook_secret']],
} as const satisfies Readonly<
  Record<HookType, readonly (readonly [setting: 'publicKey' | 'username' | 'secret', field: string])[]>
>;

/** The operations on hooks. */
export function relayHookOperations(deps: LocalDeps): RelayHookOperations {
  return {
    relayHook: ({ name }) => hookView(name, deps),
    rotateRelayHook: async ({ name }) => {
      await requireGoodSources(deps);
      hookOf(name, deps);
      const { registry, clock } = deps;
      const key = hookNote(name);
      const before = (await registry.settings()).get(key);
      await putIntoForce(
        deps,
        () => registry.putSetting(key, rotatedNote(before, clock.wall())),
        () => registry.putSetting(key, before ?? null),
      );
      return await hookView(name, deps);
    },
  };
}

/** The hook in force. Throws `OperationError` for a relay that has none. */
function hookOf(name: string, { resolution }: Pick<LocalDeps, 'resolution'>) {
  const { config } = resolution();
  const hook = relayHook(config, name);
  if (hook !== null) return hook;
  const relay = config.relays.find((one) => one.name === name);
  if (relay === undefined) throw noSuchRelay(name);
  throw new OperationError(
    'refused',
    `The relay ${name} is of type ${relay.type}, which has no hook; only ${HOOK_TYPES.join(', ')} have one.`,
  );
}

/** The fields of a hook's relay that are missing; without them, everything is refused. */
export function missingFields({ type, settings }: ReturnType<typeof hookOf>): string[] {
  return NEEDED[type].filter(([setting]) => !settings[setting]).map(([, field]) => field);
}

async function hookView(name: string, deps: LocalDeps): Promise<HookView> {
  const hook = hookOf(name, deps);
  const { publicUrl } = deps.resolution().config.server;
  const now = deps.clock.wall();
  const until = Math.max(0, ...hook.former.map((one) => one.until));
  const refusedAt = deps.server()?.hookProofs(name).refusedAt ?? null;
  return {
    relay: name,
    type: hook.type,
    url: hookUrl(publicUrl, name, hook.current),
    isReachable: publicUrl !== null,
    formerUntil: timeOrNull(until > now ? until : 0),
    missing: missingFields(hook),
    lastProvenAt: timeOrNull((await hookProvenAt(name, deps)) ?? 0),
    lastRefusedAt: timeOrNull(refusedAt ?? 0),
  };
}

/** When a hook was last proven: on this node, or as a note of any node says, to within hours. */
export async function hookProvenAt(
  name: string,
  { registry, server }: Pick<LocalDeps, 'registry' | 'server'>,
): Promise<number | null> {
  const noted = timeInNote((await registry.settings()).get(provenNote(name))) ?? 0;
  return Math.max(noted, server()?.hookProofs(name).provenAt ?? 0) || null;
}

function timeOrNull(at: number): string | null {
  return at === 0 ? null : formatTimestamp(at);
}
