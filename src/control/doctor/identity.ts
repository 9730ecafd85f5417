import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { bounceDomainsOf, newProbe } from '../../config/bounces.ts';
import { serverName } from '../../config/names.ts';
import { isShortAndWell, ORDER_FAULTS, SOON_DAYS } from '../../domain/certificate.ts';
import { keysIn, type SendingDomain, signerOf } from '../../domain/domain-keys.ts';
import type { Finding } from '../../operations/system.ts';
import type { IssuingState } from '../../store/issuing.ts';
import { SELF_SIGNED_FILE, UPLOADED_FILE } from '../../tls/certificate.ts';
import { lifeOf } from '../../tls/pair.ts';
import { lookForKey } from '../domain-book.ts';
import { checkBounceDomain } from '../domain-checks/bounce-domain.ts';
import { keyName, keyRecord, publish, zoneLine } from '../domain-records.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';

const DAY_MS = 86_400_000;
const NAME = 'certificate';
const ORDER = 'certificate order';
const BOUNCE = 'bounce';

/** The certificate that the server uses. */
interface InUse {
  readonly path: string;
  readonly said: string;
  /** The command that makes a new one. */
  readonly renew: string;
  /** Made by the server itself, whenever it is missing. */
  readonly isMade?: true;
  /** It is meant to be that short, and its renewal goes well. */
  readonly isShort?: boolean;
  readonly found: X509Certificate | Error;
}

/** Whether clients would accept the certificate, for how long, and whether the next one can be ordered. */
export const certificateCheck: Check = async (premises) => {
  const { domains } = premises.loaded.config.tls.acme;
  const ordered = domains.length === 0 ? null : ((await premises.issuing?.issuing()) ?? null);
  return [...shownCertificate(premises, ordered), ...lastOrder(ordered)];
};

/** Whether the last order failed. */
function lastOrder(ordered: IssuingState | null): Finding[] {
  const { fault = null, failures = 0 } = ordered?.renewal ?? {};
  if (fault === null) return [];
  const times = failures === 1 ? 'The last order' : `The last ${failures} orders`;
  return [
    warn(ORDER, `${times} of a certificate by ACME failed: ${fault.message}`, ORDER_FAULTS[fault.code]),
  ];
}

function shownCertificate(premises: Premises, ordered: IssuingState | null): Finding[] {
  const { loaded, clock } = premises;
  const { path, said, renew, isMade, isShort, found } = inUse(premises, ordered);
  if (found instanceof Error) {
    if (isMade) return [skipped(NAME, 'A self-signed one is made at the first start that needs it.')];
    if (isMissing(found))
      return [
        fail(NAME, `There is no ${path}, which tls.cert_file names.`, 'put it there, or set tls.cert_file'),
      ];
    const look = `openssl x509 -in ${path} -noout -text`;
    return [fail(NAME, `${path} is not a readable certificate: ${String(found)}`, look)];
  }
  const days = Math.floor((Date.parse(found.validTo) - clock.wall()) / DAY_MS);
  if (days < 0) return [fail(NAME, `${path} expired ${-days} days ago.`, renew)];
  const host = serverName(loaded.config);
  if (found.checkHost(host) === undefined) {
    const cure = isMade ? renew : `get one for ${host}, or: server: { hostname: … }`;
    return [warn(NAME, `${path} is not for ${host}: clients that check it refuse it.`, cure)];
  }
  if (days < SOON_DAYS && isShort !== true) return [warn(NAME, `${path} expires in ${days} days.`, renew)];
  return [ok(NAME, `${said}, for ${host}, valid for another ${days} days.`)];
}

function inUse({ loaded, dataDir, machine }: Premises, ordered: IssuingState | null): InUse {
  const { certFile } = loaded.config.tls;
  if (certFile !== null) {
    const renew = `renew it (certbot renew), in place: ${certFile}`;
    return { path: certFile, said: certFile, renew, found: read(certFile, machine) };
  }
  const uploaded = join(dataDir, UPLOADED_FILE);
  const found = read(uploaded, machine);
  if (!isMissing(found)) {
    const renew = 'upload another one in the dashboard, under Settings, Certificate';
    return { path: uploaded, said: 'Uploaded', renew, found };
  }
  if (ordered?.issued) {
    const { certificate: cert } = ordered.issued;
    const issued = parsed(() => cert);
    return {
      path: 'The certificate by ACME',
      said: 'Ordered by ACME',
      renew: 'waybill certificates renew',
      found: issued,
      isShort: !(issued instanceof Error) && isShortAndWell(lifeOf({ cert }), ordered.renewal),
    };
  }
  const path = join(dataDir, SELF_SIGNED_FILE);
  const renew = `rm ${path} and start the server again`;
  return { path, said: 'Self-signed', renew, isMade: true, found: read(path, machine) };
}

function isMissing(found: X509Certificate | Error): boolean {
  return found instanceof Error && 'code' in found && found.code === 'ENOENT';
}

function read(path: string, machine: Premises['machine']): X509Certificate | Error {
  return parsed(() => machine.readFile(path));
}

function parsed(pem: () => string): X509Certificate | Error {
  try {
    return new X509Certificate(pem());
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const DOMAINS = 'domains';
/** Domains to check: with two keys each, all their queries run at once. */
const MAX_DOMAINS_ASKED = 50;

/** Whether receivers can verify our signatures: a signature without its record is worse than none. */
export const domainsCheck: Check = async (premises, signal) => {
  const { domains, unreadableDomains } = premises.loaded.config;
  if (domains.length === 0) return [skipped(DOMAINS, 'None is registered: mail is not signed.')];
  const asked = domains.slice(0, MAX_DOMAINS_ASKED);
  const problems = (await Promise.all(asked.map((domain) => lookAt(domain, premises, signal)))).flat();
  const blind = unreadableDomains.map((name) =>
    fail(
      `domain ${name}`,
      'One of its keys cannot be read with the present secret.key, and signs nothing.',
      `put back the earlier secret.key, or make new keys: waybill domains rotate ${name}`,
    ),
  );
  const found = [...blind, ...problems];
  if (found.length > 0) return found;
  const rest =
    domains.length > asked.length ? ` ${asked.length} of ${domains.length} domains were checked.` : '';
  return [ok(DOMAINS, `The records of all signing keys are published.${rest}`)];
};

/** Whether bounces of our mail come back to the domain for them; and which domains' own wait to be used. */
export const bouncesCheck: Check = async ({ loaded: { config }, ...premises }, signal) => {
  const domain = bounceDomainsOf(config).usual;
  const unused = config.domains.flatMap(({ name, returnPath }) =>
    returnPath === null || returnPath.isGood
      ? []
      : [
          warn(
            `domain ${name}`,
            `Its mail does not use its return path, ${returnPath.domain}: the last check did not find its records.`,
            `waybill domains check ${name}`,
          ),
        ],
  );
  if (domain === null)
    return [skipped(BOUNCE, 'bounces.domain is not set: bounces go to the senders.'), ...unused];
  if (config.domains.some(({ name }) => name === domain))
    return [
      fail(
        `${BOUNCE} domain`,
        `${domain} is a domain that mail is sent from: what is sent to its mailboxes through here is refused.`,
        `bounces: { domain: bounces.${domain} }`,
      ),
      ...unused,
    ];
  const facts = { ...premises, domain, config, probe: newProbe(config, premises) };
  return [...(await checkBounceDomain(BOUNCE, facts, signal)).findings, ...unused];
};

/** Whether reports on TLS can be sent by mail: they must be signed (RFC 8460 §3). */
export const tlsReportsCheck: Check = async ({ loaded: { config } }) => {
  const name = 'tls reports';
  const { from } = config.tlsReports;
  if (from === null) return [skipped(name, 'tls_reports.from is not set: none are sent.')];
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  const signer = signerOf(domain, config.domains);
  if (signer !== null) return [ok(name, `They come from ${from}, signed by ${signer.name}.`)];
  const isRegistered = config.domains.some((known) => known.name === domain);
  return [
    fail(
      name,
      `Nothing signs mail from ${from}, and receivers ignore reports that are not signed: none are sent by mail.`,
      isRegistered ? `waybill domains rotate ${domain} --now` : `waybill domains add ${domain}`,
    ),
  ];
};

/** At most one finding per domain, with every key whose record is wrong. */
async function lookAt(
  domain: SendingDomain,
  { resolver }: Premises,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { name } = domain;
  const signing = keysIn(domain, 'signing').filter(({ privateKey }) => privateKey !== null);
  const sights = await Promise.all(
    signing.map(async (key) => ({ key, sight: await lookForKey(name, key, resolver, signal) })),
  );
  const bad = sights.filter(({ sight: { kind } }) => kind !== 'seen' && kind !== 'unknown');
  if (bad.length > 0) {
    const places = bad.map(({ key, sight }) => `${keyName(name, key.selector)}: ${sight.detail}`);
    const lines = bad.map(({ key }) => zoneLine(keyName(name, key.selector), keyRecord(key)));
    return [
      fail(
        `domain ${name}`,
        `Its mail is signed, but receivers cannot verify that with ${places.join(' Nor with ')}`,
        publish(lines.join('\n')),
      ),
    ];
  }
  const unknown = sights.find(({ sight: { kind } }) => kind === 'unknown');
  return unknown === undefined
    ? []
    : [skipped(`domain ${name}`, `Its records are unknown: ${unknown.sight.detail}`)];
}
