import { X509Certificate } from 'node:crypto';
import { formatTimestamp } from '../lib/clock.ts';
import { certificatesIn, faultOf } from './pair.ts';
import type { KeyAndCertificate } from './self-signed.ts';

/** What is wrong with a pair that somebody wants to be used from now (wall ms) on; null when browsers could take it. */
export function uploadFault(pair: KeyAndCertificate, now: number): string | null {
  const fault = faultOf(pair);
  // The words are those of the settings by which files are named.
  if (fault !== null)
    return fault.replaceAll('tls.cert_file', 'certificate').replaceAll('tls.key_file', 'key');
  const chain = certificatesIn(pair.cert).map((pem) => new X509Certificate(pem));
  const [own] = chain;
  if (own === undefined) return 'certificate: there is none';
  const { validFromDate, validToDate } = own;
  if (validToDate.getTime() <= now)
    return `certificate: it ended at ${formatTimestamp(validToDate.getTime())}`;
  if (validFromDate.getTime() > now)
    return `certificate: it is not valid before ${formatTimestamp(validFromDate.getTime())}`;
  if (namesIn(own).length === 0) return 'certificate: it names no host (subjectAltName)';
  const loose = chain.findIndex((one, place) => {
    const next = chain[place + 1];
    return next !== undefined && !one.checkIssued(next);
  });
  if (loose < 0) return null;
  return `certificate: number ${loose + 2} of ${chain.length} does not vouch for number ${loose + 1}; put each before the one that vouches for it`;
}

/** The names and addresses a certificate is good for. */
export function namesIn({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):([\w.:*-]+)$/.exec(entry)?.[1] ?? []);
}
