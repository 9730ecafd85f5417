import { X509Certificate } from 'node:crypto';
import { AcmeError } from '../acme/problem.ts';
import { endsSoon, ORDER_FAULTS } from '../domain/certificate.ts';
import { formatTimestamp } from '../lib/clock.ts';
import { OperationError } from '../operations/call.ts';
import type { CertificateOperations, CertificateView } from '../operations/certificates.ts';
import type { RequestOf } from '../operations/table.ts';
import type { Certificate } from '../tls/certificate.ts';
import { namesIn, uploadFault } from '../tls/pair.ts';
import type { LocalDeps } from './deps.ts';

type Deps = Pick<LocalDeps, 'server' | 'clock' | 'resolution'>;

const DAY_MS = 86_400_000;

/** The operations on the certificate. */
export function certificateOperations(deps: Deps): CertificateOperations {
  return {
    certificate: async () => viewOf(inUse(deps), deps),
    putCertificate: (request) => putCertificate(request, deps),
    renewCertificate: () => renewCertificate(deps),
  };
}

async function putCertificate(
  { certificate: cert, key }: RequestOf<'putCertificate'>,
  deps: Deps,
): Promise<CertificateView> {
  const certificate = ours(deps);
  const fault = uploadFault({ cert, key }, deps.clock.wall());
  if (fault !== null) throw new OperationError('invalid', fault);
  await certificate.upload({ cert, key });
  return viewOf(certificate, deps);
}

async function renewCertificate(deps: Deps): Promise<CertificateView> {
  const certificate = ours(deps);
  const keeper = deps.server()?.keeper ?? null;
  const isOrdered = keeper !== null && keeper.view.terms !== null;
  if (isOrdered) {
    try {
      await keeper.order();
      await certificate.reload();
    } catch (error) {
      if (!(error instanceof AcmeError)) throw error;
      throw new OperationError('unavailable', `${error.message}. ${ORDER_FAULTS[error.code]}`, {
        cause: error,
      });
    }
  }
  // An uploaded one goes once there is another.
  if (certificate.origin === 'uploaded' || !isOrdered) await certificate.renew();
  return viewOf(certificate, deps);
}

function inUse({ server }: Deps): Certificate {
  const found = server()?.certificate ?? null;
  if (found !== null) return found;
  throw new OperationError(
    'unavailable',
    'There is no certificate: no server is running, or none of its ports uses TLS.',
  );
}

/** The certificate, unless it comes from files. */
function ours(deps: Deps): Certificate {
  const certificate = inUse(deps);
  if (certificate.origin !== 'file') return certificate;
  const source = deps.resolution().effective.find(({ key }) => key === 'tls.cert_file')?.source;
  throw new OperationError(
    'refused',
    `The certificate comes from tls.cert_file, set by the ${source}. Replace that file and the one of tls.key_file: they are read again when they change.`,
  );
}

function viewOf({ current, origin, life }: Certificate, deps: Deps): CertificateView {
  const read = new X509Certificate(current.cert);
  const { subject, issuer, validFromDate, validToDate, fingerprint256 } = read;
  const names = namesIn(read);
  const now = deps.clock.wall();
  const renewal = origin === 'acme' ? (deps.server()?.keeper?.view.renewal ?? null) : null;
  return {
    origin,
    // Authorities leave it empty where the names say all.
    subject: onOneLine(subject ?? ''),
    issuer: onOneLine(issuer),
    names,
    validFrom: formatTimestamp(validFromDate.getTime()),
    validUntil: formatTimestamp(validToDate.getTime()),
    daysLeft: Math.floor((validToDate.getTime() - now) / DAY_MS),
    endsSoon: endsSoon(life, renewal, now),
    fingerprint: fingerprint256,
    acme: orderOf(deps),
  };
}

function orderOf({ server }: Deps): CertificateView['acme'] {
  const view = server()?.keeper?.view;
  if (view === undefined || view.terms === null) return null;
  const { terms, renewal, orderAt, isOrdering } = view;
  const { fault, advice, failures } = renewal;
  return {
    names: [...terms.names],
    directory: terms.directory,
    challenge: terms.challenge,
    ordering: isOrdering,
    nextAt: orderAt === null ? null : formatTimestamp(Math.round(orderAt)),
    advised: advice !== null,
    explanation: advice?.window.explanation ?? null,
    failures,
    fault:
      fault === null
        ? null
        : {
            at: formatTimestamp(fault.at),
            code: fault.code,
            message: fault.message,
            cure: ORDER_FAULTS[fault.code],
          },
  };
}

function onOneLine(name: string): string {
  return name.split('\n').join(', ');
}
