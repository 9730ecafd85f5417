import { FileUp, RefreshCw } from 'lucide-react';
import { type ChangeEvent, useId, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { ask } from '../../parts/ask.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Card, KeyValue } from '../../parts/page.tsx';
import { Banner, Fetched } from '../../parts/states.tsx';
import { Textarea } from '../../parts/text-field.tsx';
import { Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';

type Certificate = ResultOf<'certificate'>;

const ORIGINS: Readonly<Record<Certificate['origin'], string>> = {
  'self-signed': 'Self-signed by this server, which renews it by itself',
  acme: 'Ordered by ACME, and renewed by itself',
  uploaded: 'Uploaded here',
  file: 'From the file in tls.cert_file, read again when it changes',
};

/** The certificate that is shown to clients, and how to put another in its place. */
export default function CertificateCard() {
  const certificate = useCall('certificate', {}, { topics: ['settings', 'health'], everyMs: 5_000 });
  const mayChange = useMay('admin');
  const [uploading, setUploading] = useState(false);
  const origin = certificate.data?.origin;
  const ordered = certificate.data?.acme?.names ?? [];
  return (
    <Card
      title="Certificate"
      actions={
        mayChange &&
        origin !== undefined &&
        origin !== 'file' && (
          <>
            <Button
              small
              icon={RefreshCw}
              label={labelOf(origin, ordered)}
              onClick={() => askToRenew(origin, ordered)}
            />
            <Button small icon={FileUp} label="Upload" onClick={() => setUploading(true)} />
          </>
        )
      }
    >
      <Fetched query={certificate}>{(data) => <Facts certificate={data} />}</Fetched>
      {uploading && <UploadCertificate onClose={() => setUploading(false)} />}
    </Card>
  );
}

function labelOf(origin: Certificate['origin'], ordered: readonly string[]): string {
  if (ordered.length > 0) return origin === 'uploaded' ? 'Replace by ACME' : 'Order now';
  return origin === 'uploaded' ? 'Back to self-signed' : 'Renew';
}

function askToRenew(origin: Certificate['origin'], ordered: readonly string[]): void {
  if (ordered.length > 0)
    ask('renewCertificate', {
      request: {},
      done: 'The new certificate is in use',
      title: 'Order a new certificate now?',
      text:
        origin === 'uploaded'
          ? `For ${ordered.join(', ')}. Once it is there, the uploaded one is removed. If the order fails, nothing changes.`
          : `For ${ordered.join(', ')}. It may take a minute. If the order fails, the present one stays. Authorities limit how many they issue in a week.`,
      confirm: 'Order it',
    });
  else askForSelfSigned();
}

function askForSelfSigned(): void {
  ask('renewCertificate', {
    request: {},
    done: 'A new self-signed certificate is in use',
    title: 'Make a new self-signed certificate?',
    text: 'It replaces the present one at once. Browsers and clients that were told to trust the old one will ask again.',
    confirm: 'Make a new one',
  });
}

function Facts({ certificate }: { readonly certificate: Certificate }) {
  const { origin, subject, issuer, names, validFrom, validUntil, daysLeft, endsSoon, fingerprint, acme } =
    certificate;
  return (
    <>
      {acme === null ? origin === 'self-signed' && <OrderHint /> : <Order acme={acme} />}
      {endsSoon && (
        <div className="mb-4">
          <Banner
            level={daysLeft < 0 ? 'critical' : 'warning'}
            title={daysLeft < 0 ? 'It has expired' : `It expires in ${plural(daysLeft, 'day')}`}
          >
            {origin === 'self-signed'
              ? 'It should have renewed itself: check the log.'
              : 'Clients that check certificates will refuse to connect.'}
          </Banner>
        </div>
      )}
      <KeyValue
        rows={{
          From: ORIGINS[origin],
          For: (
            <span className="flex flex-wrap gap-1">
              {names.map((name) => (
                <Badge key={name}>{name}</Badge>
              ))}
            </span>
          ),
          Subject: subject === '' ? undefined : subject,
          'Issued by': issuer,
          'Valid from': <Time at={validFrom} exact />,
          'Valid until': <Time at={validUntil} exact />,
          'SHA-256': <Copyable text={fingerprint} />,
        }}
      />
    </>
  );
}

/** Nobody vouches for it yet. */
function OrderHint() {
  return (
    <p className="mb-4 text-sm text-soft">
      Clients that check certificates refuse a self-signed one. To order one that they accept, free of charge,
      set <b>ACME domains</b> and <b>ACME agree terms</b> below: it is renewed by itself.
    </p>
  );
}

type Ordering = NonNullable<Certificate['acme']>;

/** How the order of a certificate stands. */
function Order({ acme }: { readonly acme: Ordering }) {
  const { fault, failures, ordering, nextAt, explanation, names, directory, challenge, advised } = acme;
  return (
    <>
      {fault !== null && (
        <div className="mb-4">
          <Banner
            level="warning"
            title={failures === 1 ? 'The last order failed' : `The last ${failures} orders failed`}
          >
            <p className="break-words">{fault.message}</p>
            <p className="mt-1">{fault.cure}</p>
          </Banner>
        </div>
      )}
      <div className="mb-4">
        <KeyValue
          rows={{
            'Ordered for': (
              <span className="flex flex-wrap gap-1">
                {names.map((name) => (
                  <Badge key={name}>{name}</Badge>
                ))}
              </span>
            ),
            Authority: <span className="break-all">{new URL(directory).host}</span>,
            Challenge: challenge,
            'Next order': ordering ? (
              'Being ordered now'
            ) : nextAt === null ? (
              'Not while the certificate in use is your own'
            ) : (
              <>
                <Time at={nextAt} exact />
                {advised && (
                  <>
                    , as the authority advises
                    {explanation !== null && (
                      <>
                        {' '}
                        (
                        <a className="link" href={explanation} target="_blank" rel="noreferrer">
                          why
                        </a>
                        )
                      </>
                    )}
                  </>
                )}
              </>
            ),
          }}
        />
      </div>
    </>
  );
}

/** More than any chain or key has, in characters. */
const MAX_PEM = 256 * 1024;

/** Puts a certificate and its key in the place of the present one. */
function UploadCertificate({ onClose }: { readonly onClose: () => void }) {
  return (
    <ActionForm
      sheet={{
        title: 'Upload a certificate',
        description: 'Both as PEM. It is in use at once, on every TLS port.',
      }}
      operation="putCertificate"
      initial={{ certificate: '', key: '' }}
      request={(values) => values}
      done="The certificate is in use"
      onDone={onClose}
      submit="Use this certificate"
      cancel="Keep the present one"
      disabled={({ certificate, key }) => certificate === '' || key === ''}
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <PemField
            label="Certificate and its intermediates"
            begins="-----BEGIN CERTIFICATE-----"
            {...field('certificate')}
          />
          <PemField
            label="Private key"
            begins="-----BEGIN PRIVATE KEY-----"
            hint="Without a passphrase. It is kept in the data directory, readable only by the service's user, and never shown again."
            {...field('key')}
          />
        </>
      )}
    </ActionForm>
  );
}

function PemField({ begins, ...field }: Parameters<typeof Textarea>[0] & { readonly begins: string }) {
  const id = useId();
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) field.onChange((await file.slice(0, MAX_PEM).text()).trim());
    target.value = '';
  };
  return (
    <div>
      <Textarea {...field} mono rows={4} spellCheck={false} autoComplete="off" placeholder={begins} />
      <label htmlFor={id} className="link mt-1 inline-block cursor-pointer text-sm focus-within:outline-2">
        Read it from a file
        <input id={id} type="file" accept=".pem,.crt,.cer,.key" onChange={read} className="sr-only" />
      </label>
    </div>
  );
}
