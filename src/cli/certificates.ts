import type { Command } from 'commander';
import type { CertificateView } from '../operations/certificates.ts';
import type { Context } from './context.ts';
import { groupCommand } from './operation-command.ts';
import { counted } from './terminal.ts';

// A file of its own, as each group of commands has one.

/** `waybill certificates …`: the certificate of the TLS ports. */
export function certificatesCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'certificates',
    title: 'the certificate of the TLS ports, and ordering one by ACME',
    order: ['list', 'renew'],
    texts: { certificate: certificateText, renewCertificate: certificateText },
  });
}

const ORIGINS: Readonly<Record<CertificateView['origin'], string>> = {
  'self-signed': 'self-signed by this server',
  acme: 'ordered by ACME',
  uploaded: 'uploaded',
  file: 'from tls.cert_file',
};

function certificateText({ acme, ...certificate }: CertificateView): string {
  const { origin, names, issuer, validUntil, daysLeft, fingerprint } = certificate;
  const left = daysLeft < 0 ? 'expired' : `${counted(daysLeft, 'day')} left`;
  const lines = [
    ['Names', names.join(' ')],
    ['From', ORIGINS[origin]],
    ['Issuer', issuer],
    ['Until', `${validUntil} (${left})`],
    ['SHA-256', fingerprint],
    ...(acme === null ? [] : orderLines(acme)),
  ];
  const text = lines.map(([label = '', value = '']) => `${label.padEnd(10)}${value}`).join('\n');
  return acme === null && origin === 'self-signed'
    ? `${text}\n\nClients that check certificates refuse it. To order one: tls.acme.domains (docs/certificates.md).`
    : text;
}

function orderLines(acme: NonNullable<CertificateView['acme']>): string[][] {
  const { names, directory, challenge, ordering, nextAt, advised, fault, failures } = acme;
  const because = advised ? ', as the authority advises' : '';
  const next = nextAt === null ? 'not while the certificate in use is your own' : `${nextAt}${because}`;
  return [
    ['Ordered', `${names.join(' ')} from ${directory} by ${challenge}`],
    ['Next', ordering ? 'being ordered now' : next],
    ...(fault === null
      ? []
      : [
          ['Failed', `${counted(failures, 'time')}, last at ${fault.at}: ${fault.message}`],
          ['To do', fault.cure],
        ]),
  ];
}
