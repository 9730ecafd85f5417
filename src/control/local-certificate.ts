import { X509Certificate } from 'node:crypto';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { CertificateView, SettingsOperations } from '../operations/settings.ts';
import type { RequestOf } from '../operations/table.ts';
import type { Certificate } from '../tls/certificate.ts';
import { namesIn, uploadFault } from '../tls/pair.ts';
import type { LocalDeps } from './local-deps.ts';

const DAY_MS = 86_400_000;

type CertificateOperation = 'certificate' | 'putCertificate' | 'renewCertificate';
type CertificateDeps = Pick<LocalDeps, 'server' | 'clock' | 'resolution'>;

/** The operations on the certificate. */
export function certificateOperations(deps: CertificateDeps): Pick<SettingsOperations, CertificateOperation> {
  return {
    certificate: async () => viewOf(inUse(deps), deps),
    putCertificate: (request) => putCertificate(request, deps),
    renewCertificate: async () => {
      const certificate = ours(deps);
      await certificate.renew();
      return viewOf(certificate, deps);
    },
  };
}

async function putCertificate(
  { certificate: cert, key }: RequestOf<'putCertificate'>,
  deps: CertificateDeps,
): Promise<CertificateView> {
  const certificate = ours(deps);
  const fault = uploadFault({ cert, key }, deps.clock.wall());
  if (fault !== null) throw new OperationError('invalid', fault);
  await certificate.upload({ cert, key });
  return viewOf(certificate, deps);
}

function inUse({ server }: CertificateDeps): Certificate {
  const found = server()?.certificate ?? null;
  if (found !== null) return found;
  throw new OperationError(
    'unavailable',
    'There is no certificate: no server runs, or none of its ports speaks TLS.',
  );
}

/** The certificate, if it is not that of files. */
function ours(deps: CertificateDeps): Certificate {
  const certificate = inUse(deps);
  if (certificate.origin !== 'file') return certificate;
  const source = deps.resolution().effective.find(({ key }) => key === 'tls.cert_file')?.source;
  throw new OperationError(
    'refused',
    `The certificate is that of tls.cert_file, set by the ${source}. Replace that file and that of tls.key_file: they are read anew when they change.`,
  );
}

function viewOf({ current, origin }: Certificate, { clock }: CertificateDeps): CertificateView {
  const read = new X509Certificate(current.cert);
  const { subject, issuer, validFromDate, validToDate, fingerprint256 } = read;
  return {
    origin,
    subject: onOneLine(subject),
    issuer: onOneLine(issuer),
    names: namesIn(read),
    validFrom: formatTimestamp(validFromDate.getTime()),
    validUntil: formatTimestamp(validToDate.getTime()),
    daysLeft: Math.floor((validToDate.getTime() - clock.wall()) / DAY_MS),
    fingerprint: fingerprint256,
  };
}

function onOneLine(name: string): string {
  return name.split('\n').join(', ');
}
