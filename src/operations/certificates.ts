import { z } from 'zod';
import { changes, look, type OperationsOf, operation, READ, type Shown } from './operation.ts';

/** The certificate of the TLS ports: the operator's own, one ordered by ACME, or a self-signed one. */

const orderView = () =>
  z.strictObject({
    /** What is ordered; `tls.acme.domains`. */
    names: z.array(z.string()),
    /** The URL of the authority's directory. */
    directory: z.string(),
    challenge: z.string(),
    /** It is being ordered. */
    ordering: z.boolean(),
    /** When it is ordered next; null: not, because the operator's own certificate is in use. */
    nextAt: z.string().nullable(),
    /** The authority says when to renew (ARI, RFC 9773). */
    advised: z.boolean(),
    /** A page of the authority that says why; null: there is none. */
    explanation: z.string().nullable(),
    /** Orders that failed since the last one that did not. */
    failures: z.number(),
    /** Why the last order failed; null: it did not. */
    fault: z
      .strictObject({
        at: z.string(),
        code: z.string(),
        message: z.string(),
        /** What to do. */
        cure: z.string(),
      })
      .nullable(),
  });

const certificateView = () =>
  z.strictObject({
    /** `self-signed`: ours; `acme`: ordered; `uploaded`: by `putCertificate`; `file`: `tls.cert_file`. */
    origin: z.enum(['self-signed', 'acme', 'uploaded', 'file']),
    subject: z.string(),
    issuer: z.string(),
    names: z.array(z.string()),
    validFrom: z.string(),
    validUntil: z.string(),
    /** Whole days until then; negative when it has expired. */
    daysLeft: z.number(),
    /** It has expired, or will within 14 days and is not a short one whose renewal goes well. */
    endsSoon: z.boolean(),
    /** SHA-256, as browsers show it. */
    fingerprint: z.string(),
    /** How ordering by ACME stands; null: nothing is to be ordered. */
    acme: orderView().nullable(),
  });

/** A certificate as shown. Times are RFC 3339. */
export type CertificateView = Shown<typeof certificateView>;

/** The certificate in use. */
const CERTIFICATE = look<CertificateView>(
  'certificate',
  () => ({}),
  ({ origin, subject, names, validUntil, fingerprint }) => ({
    origin,
    subject,
    names,
    validUntil,
    fingerprint,
  }),
);

/** What operators can ask of the certificate, and do to it. */
export const CERTIFICATE_OPERATIONS = {
  certificate: operation({
    meaning: 'The certificate that clients see.',
    access: READ,
    request: z.strictObject({}),
    result: certificateView,
    commands: [
      {
        words: 'certificates list',
        summary: 'show the certificate in use, and how ordering by ACME stands',
        examples: ['waybill certificates list', 'waybill certificates list --json'],
        takes: {},
      },
    ],
  }),
  putCertificate: operation({
    meaning:
      'Replaces the present certificate by an uploaded one and its key. Refused if a file is configured.',
    access: changes({
      words: 'Uploaded a certificate',
      subject: null,
      look: CERTIFICATE,
      hide: ['key', 'certificate'],
      touches: ['settings', 'health'],
    }),
    request: z.strictObject({
      certificate: z
        .string()
        .max(256 * 1024)
        .describe('PEM: the certificate and its intermediates.'),
      key: z
        .string()
        .max(64 * 1024)
        .describe('PEM; not encrypted.'),
    }),
    result: certificateView,
  }),
  renewCertificate: operation({
    meaning:
      'Orders a new certificate by ACME, where names are set for that, and waits for it; otherwise makes a new self-signed one. It removes an uploaded one.',
    access: changes({
      words: 'Renewed the certificate',
      subject: null,
      look: CERTIFICATE,
      touches: ['settings', 'health'],
    }),
    request: z.strictObject({}),
    result: certificateView,
    commands: [
      {
        words: 'certificates renew',
        summary: 'order a new certificate by ACME now, or make a new self-signed one',
        notes:
          'An order takes some seconds, or minutes with a slow authority. If it fails, the present certificate stays. An uploaded certificate is removed.',
        examples: ['waybill certificates renew'],
        takes: {},
      },
    ],
  }),
};

/** Those who carry them out. */
export type CertificateOperations = OperationsOf<typeof CERTIFICATE_OPERATIONS>;
