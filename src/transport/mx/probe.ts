import type { Resolver } from '../../dns/resolver.ts';
import { parseMailbox } from '../../domain/mailbox.ts';
import { openSession } from '../smtp/open.ts';
import { failureOf, stepsOf } from '../smtp/probe.ts';
import type { Trace } from '../smtp/trace.ts';
import type { ProbeStep, Tell } from '../transport.ts';
import { type DomainHosts, describeAnswer, MAX_HOSTS, MAX_LOOKED_UP, type ReadyHost } from './hosts.ts';
import type { MxMeans } from './means.ts';
import { waysTo } from './means.ts';
import { describeSts } from './security.ts';

/** The name of the step that says that a host would accept mail. */
export const READY = 'READY';

/**
 * Looks up where a recipient's mail goes and opens a session with each host, as a delivery would, but sends nothing.
 * Yields each step as it happens. Never throws for DNS or peer errors.
 */
export async function* probeMx(
  recipient: string,
  means: MxMeans,
  resolver: Resolver,
  signal: AbortSignal,
): AsyncGenerator<ProbeStep> {
  yield* stepsOf(means.terms.clock, null, async (tell, trace) => {
    const mailbox = parseMailbox(recipient);
    if (!mailbox.ok) return tell('address', false, `${recipient} is not a mail address`);
    const { address } = mailbox.value;
    const domain = address.slice(address.lastIndexOf('@') + 1);
    const told = telling(resolver, tell);
    const found = await means.finder.hostsOf(domain, told, signal);
    if (found.kind !== 'domain') return tell(found.reply.cause, false, found.reply.text);
    const { sts, excluded } = found;
    if (sts !== null) tell('MTA-STS', sts.kind !== 'none' || sts.why === null, describeSts(sts));
    if (excluded !== null) tell(excluded.reply.cause, false, excluded.reply.text);
    let connected = 0;
    for (const { name } of found.hosts.slice(0, MAX_LOOKED_UP)) {
      if (connected === MAX_HOSTS) return;
      if (await probeHost(name, found, means, told, trace, tell, signal)) connected += 1;
    }
  });
}

/** Returns whether the host was allowed, and so tried. */
async function probeHost(
  name: string,
  domain: DomainHosts,
  means: MxMeans,
  resolver: Resolver,
  trace: Trace,
  tell: Tell,
  signal: AbortSignal,
): Promise<boolean> {
  const host = await means.finder.ready(name, domain, resolver, signal);
  if (host.kind !== 'ready') {
    tell(host.reply.cause, false, host.reply.text);
    return false;
  }
  tell('HOST', true, `${name}: ${demands(host)}`);
  for (const { destination, terms } of waysTo(host, means)) {
    trace.turnTo(name);
    try {
      const connection = await openSession(destination, terms, trace, signal);
      connection.quit();
      const secured = connection.tls === null ? 'in clear' : `${connection.tls}, ${connection.verdict}`;
      tell(READY, true, `${name} (${connection.address}) is ready for mail, ${secured}`);
      return true;
    } catch (error) {
      const { cause, text } = failureOf(error);
      tell(cause, false, text);
    }
  }
  return true;
}

/** The required security of the connection to a host, in words. */
function demands({ security: { way, dane } }: ReadyHost): string {
  if (way.trust.kind === 'dane') return 'TLS with a certificate that matches its TLSA records (DANE)';
  if (way.trust.kind === 'name') return 'TLS with a verified certificate (MTA-STS)';
  if (way.tls === 'required') return dane === 'unusable' ? 'TLS (its TLSA records are unusable)' : 'TLS';
  return 'TLS if offered';
}

function telling(resolver: Resolver, tell: Tell): Resolver {
  return {
    async resolve(name, type, signal) {
      const answer = await resolver.resolve(name, type, signal);
      const vouched = answer.kind !== 'failed' && answer.authenticated ? ' (validated)' : '';
      const text = answer.kind === 'failed' ? answer.text : describeAnswer(answer);
      const missing = type === 'MX' && answer.kind === 'nxdomain';
      tell(type, answer.kind !== 'failed' && !missing, `${name}: ${text}${vouched}`);
      return answer;
    },
  };
}
