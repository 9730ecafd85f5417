/** What a session with a host of a domain tells of its TLS, for TLS reports (RFC 8460). */

import { type MtaStsPolicy, type MtaStsVerdict, matchesPolicy, type PolicyFault } from '../../dns/mta-sts.ts';
import {
  NO_POLICY,
  type NoteTlsSession,
  type TlsPolicy,
  type TlsResult,
  type TlsSession,
} from '../../domain/tls-report.ts';
import { errorCode } from '../../lib/error.ts';
import type { HopFailure } from '../smtp/failure.ts';
import type { Destination } from '../smtp/open.ts';
import type { Trace } from '../smtp/trace.ts';

/** Who is told of sessions. */
export interface TlsWatch {
  /** Sessions are counted at all. */
  readonly isOn: () => boolean;
  readonly note: NoteTlsSession;
  /**
   * Whether a message is a report on TLS itself: it is delivered whatever is wrong with TLS, and its session is in no
   * report (RFC 8460 §5.3).
   */
  readonly isReport: (messageId: string) => boolean;
}

/** Nobody is told. */
export const UNWATCHED_TLS: TlsWatch = { isOn: () => false, note() {}, isReport: () => false };

/** Lines of a policy to keep, and characters of each. */
const MAX_STRINGS = 30;
const MAX_STRING = 300;

/**
 * A session that was opened, or could not be, as reports have it, after what is wrong with the records of its host; none if
 * it says nothing about TLS.
 */
export function tlsSessionsOf(
  destination: Pick<Destination, 'host' | 'address' | 'trust'>,
  sts: MtaStsVerdict | null,
  trace: Facts & Pick<Trace, 'dane'>,
  failure: HopFailure | null,
): readonly TlsSession[] {
  const session = sessionOf(destination, sts, trace, failure);
  return [session && unusableRecords(destination, trace), session].filter((one) => one !== null);
}

type Facts = Pick<Trace, 'verdict' | 'localAddress' | 'certificateFault' | 'handshakeFault'>;

/** Null if it says nothing about TLS. */
function sessionOf(
  { host, address, trust }: Pick<Destination, 'host' | 'address' | 'trust'>,
  sts: MtaStsVerdict | null,
  trace: Facts,
  failure: HopFailure | null,
): TlsSession | null {
  const records = trust.kind === 'dane' ? trust.records : null;
  const policy = records === null ? stsPolicy(sts) : tlsaPolicy(records);
  const judged = failure === null ? judge(policy, host, sts, trace) : failed(failure);
  if (judged === undefined) return null;
  if (judged === null) return good(policy);
  const [result, reason] = judged;
  return { policy, result, mxHost: host, mxAddress: address, localAddress: trace.localAddress, reason };
}

/** A host that may not be used, or (null) none of a domain's may. Null if that has nothing to do with TLS. */
export function refusedSession(
  host: string | null,
  cause: string,
  sts: MtaStsVerdict | null,
): TlsSession | null {
  const nothing = { mxAddress: null, localAddress: null };
  if (cause === 'mta_sts_host')
    return {
      ...nothing,
      policy: stsPolicy(sts),
      result: 'validation-failure',
      mxHost: host,
      reason: 'mx-mismatch',
    };
  if (cause !== 'dane_lookup_failed') return null;
  const policy: TlsPolicy = { ...NO_POLICY, type: 'tlsa' };
  return { ...nothing, policy, result: 'dnssec-invalid', mxHost: host, reason: null };
}

const STS_FAULTS: Readonly<Record<PolicyFault, TlsResult>> = {
  unfetched: 'sts-policy-fetch-error',
  untrusted: 'sts-webpki-invalid',
  invalid: 'sts-policy-invalid',
};

/** An MTA-STS policy that is published, but holds nobody to anything; null if that is not so. */
export function faultyPolicy(sts: MtaStsVerdict | null): TlsSession | null {
  if (sts?.kind !== 'none' || sts.fault === null) return null;
  const nothing = { mxHost: null, mxAddress: null, localAddress: null, reason: null };
  return { ...nothing, policy: { ...NO_POLICY, type: 'sts' }, result: STS_FAULTS[sts.fault] };
}

/** A host whose TLSA records are all unusable, so that its session is held to another policy; null if that is not so. */
function unusableRecords(
  { host, address }: Pick<Destination, 'host' | 'address'>,
  { dane, localAddress }: Pick<Trace, 'dane' | 'localAddress'>,
): TlsSession | null {
  if (dane !== 'unusable') return null;
  const policy: TlsPolicy = { ...NO_POLICY, type: 'tlsa' };
  return { policy, result: 'tlsa-invalid', mxHost: host, mxAddress: address, localAddress, reason: null };
}

type Judged = readonly [result: TlsResult, reason: string | null];

/** Null: it is good. */
function judge(
  { type }: TlsPolicy,
  host: string,
  sts: MtaStsVerdict | null,
  {
    verdict,
    certificateFault,
    handshakeFault,
  }: Pick<Trace, 'verdict' | 'certificateFault' | 'handshakeFault'>,
): Judged | null {
  if (verdict === null || verdict === 'none')
    return handshakeFault === null
      ? ['starttls-not-supported', null]
      : ['validation-failure', handshakeFault];
  // A policy that is only tested keeps no mail back: what would have is reported.
  if (type === 'sts' && sts?.kind === 'policy' && !matchesPolicy(sts.policy, host))
    return ['validation-failure', 'mx-mismatch'];
  if (type === 'sts' && verdict === 'unverified') return ofCertificate(certificateFault);
  return null;
}

/** Undefined: it failed before TLS, or after it. */
function failed({ reply, cause }: HopFailure): Judged | undefined {
  if (reply.cause === 'timeout_tls') return ['validation-failure', 'timeout'];
  if (reply.cause !== 'tls_failed') return undefined;
  // Nothing was thrown: the server does not offer STARTTLS, or refused it.
  if (cause === undefined) return ['starttls-not-supported', null];
  return ofCertificate(errorCode(cause));
}

const NOT_TRUSTED = /^(?:CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|INVALID_CA|HOSTNAME_MISMATCH)/;

/** By OpenSSL's code, or Node's. */
function ofCertificate(code: string | null): Judged {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ['certificate-host-mismatch', code];
  if (code === 'CERT_HAS_EXPIRED') return ['certificate-expired', code];
  if (code !== null && NOT_TRUSTED.test(code)) return ['certificate-not-trusted', code];
  return ['validation-failure', code];
}

function good(policy: TlsPolicy): TlsSession {
  return { policy, result: null, mxHost: null, mxAddress: null, localAddress: null, reason: null };
}

function stsPolicy(sts: MtaStsVerdict | null): TlsPolicy {
  if (sts?.kind !== 'policy' || sts.policy.mode === 'none') return NO_POLICY;
  const { mx } = sts.policy;
  return { type: 'sts', strings: bounded(linesOf(sts.policy)), mxHosts: bounded(mx) };
}

function linesOf({ mode, mx, maxAgeSeconds }: MtaStsPolicy): readonly string[] {
  return ['version: STSv1', `mode: ${mode}`, ...mx.map((host) => `mx: ${host}`), `max_age: ${maxAgeSeconds}`];
}

type Records = Extract<Destination['trust'], { kind: 'dane' }>['records'];

function tlsaPolicy(records: Records): TlsPolicy {
  const strings = records.map(
    ({ usage, selector, matchingType, data }) => `${usage} ${selector} ${matchingType} ${data}`,
  );
  return { type: 'tlsa', strings: bounded(strings), mxHosts: [] };
}

function bounded(strings: readonly string[]): readonly string[] {
  return strings.slice(0, MAX_STRINGS).map((text) => text.slice(0, MAX_STRING));
}
