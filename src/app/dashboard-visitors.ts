import { hostname as hostNames } from '../config/kinds.ts';
import { sessionLimits } from '../control/session-limits.ts';
import type { FirstStepsBook, Pointers } from '../dashboard/session-calls.ts';
import type { Visitors } from '../dashboard/visitors.ts';
import { createVisitors } from '../dashboard/visitors.ts';
import { INBOX } from '../domain/relay.ts';
import { isOwnHost } from '../lib/network.ts';
import { StoreError } from '../store/store.ts';
import { cidrs } from './cidr-sets.ts';
import { guardSettings } from './guard-settings.ts';
import type { ListenerParts } from './listener-parts.ts';
import type { LiveConfig } from './live-config.ts';
import type { BoundPorts } from './ports.ts';

type Parts = Pick<ListenerParts, 'reception' | 'notes' | 'live' | 'storage' | 'version' | 'log'>;

const HOST_KEY = 'webui.allowed_hosts';
const MAX_HOSTS = 100;

/** Receives those who use the dashboard. `bound` is looked at whenever somebody asks. */
export function dashboardVisitors(parts: Parts, bound: BoundPorts): Visitors {
  const { reception, notes, live, version } = parts;
  return createVisitors({
    ...{ reception, version, instance: notes.instance },
    trustedProxies: () => cidrs(live.config.webui.trustedProxies),
    idleMs: () => sessionLimits(live.config).idleMs,
    pointers: (host) => pointersFor(host, bound),
    firstSteps: firstSteps(parts),
    isClaimed: onceTrue(async () => {
      const users = await reception.accounts.users(reception.clock.wall());
      return users.some(({ passwordHash }) => passwordHash !== null);
    }),
    allowHost: (host) => allowHost(host, parts),
  });
}

/** Whether `webui.allowed_hosts` may be added to: the file and the environment have the last word. */
export function hostsAreOpen(live: LiveConfig): boolean {
  const origin = live.loaded.effective.find(({ key }) => key === HOST_KEY)?.origin;
  return origin === 'default' || origin === 'stored';
}

/** Whoever holds the first set-up link was let in under any name (contract §1): from now on that name is ours. */
async function allowHost(host: string, { live, storage, log }: Parts): Promise<boolean> {
  const { allowedHosts } = live.config.webui;
  const isKnown = isOwnHost(host, { ...guardSettings(live), anyHost: false });
  const isNew = !isKnown && hostNames.read(host) !== undefined && allowedHosts.length < MAX_HOSTS;
  if (!isNew || !hostsAreOpen(live)) return false;
  await storage.registry.putSetting(HOST_KEY, JSON.stringify([...allowedHosts, host]));
  await live.reload();
  log.info('sign_in.host_allowed', { host });
  return true;
}

/** By the name that someone has for us, where the ports are plain: what they paste must work. */
function pointersFor(host: string, { api, apiTls, smtp }: BoundPorts): Pointers {
  const [smtpPort] = smtp;
  const plain = api === null ? null : `http://${host}:${api}`;
  return {
    apiUrl: plain ?? (apiTls === null ? null : `https://${host}:${apiTls}`),
    smtp: smtpPort === undefined ? null : { host: host.replace(/^\[(.*)\]$/, '$1'), port: smtpPort },
  };
}

function firstSteps({ notes, storage, live }: Parts): FirstStepsBook {
  const hasKey = onceTrue(async () => (await storage.keyring.list()).length > 0);
  const hasMessage = onceTrue(async () => {
    const query = { owner: 'all', statuses: [], before: null, limit: 1 } as const;
    return (await storage.views.list(query)).messages.length > 0;
  });
  return {
    read: async () => ({
      skipped: await notes.skipped(),
      hasKey: await hasKey(),
      hasMessage: await hasMessage(),
      hasRelay: live.config.relays.some(({ name }) => name !== INBOX),
    }),
    skip: (skipped) => notes.skip(skipped),
  };
}

/** Asks until the answer is yes, which it then is for good. While the store is too busy to say, it is no. */
function onceTrue(ask: () => Promise<boolean>): () => Promise<boolean> {
  let known = false;
  return async () => {
    try {
      known ||= await ask();
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'store_busy')) throw error;
    }
    return known;
  };
}
