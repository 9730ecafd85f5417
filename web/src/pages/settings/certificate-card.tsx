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

/** Under so many days left, it is time to do something. */
const SOON_DAYS = 14;

const ORIGINS: Readonly<Record<Certificate['origin'], string>> = {
  'self-signed': 'Self-signed by this server, which renews it by itself',
  uploaded: 'Uploaded here',
  file: 'From the file in tls.cert_file, read again when it changes',
};

/** The certificate that is shown to clients, and how to put another in its place. */
export default function CertificateCard() {
  const certificate = useCall('certificate', {}, { topics: ['settings', 'health'] });
  const mayChange = useMay('admin');
  const [uploading, setUploading] = useState(false);
  const origin = certificate.data?.origin;
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
              label={origin === 'uploaded' ? 'Back to self-signed' : 'Renew'}
              onClick={askToRenew}
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

function askToRenew(): void {
  ask('renewCertificate', {
    request: {},
    done: 'A new self-signed certificate is in use',
    title: 'Make a new self-signed certificate?',
    text: 'It replaces the present one at once. Browsers and clients that were told to trust the old one will ask again.',
    confirm: 'Make a new one',
  });
}

function Facts({ certificate }: { readonly certificate: Certificate }) {
  const { origin, subject, issuer, names, validFrom, validUntil, daysLeft, fingerprint } = certificate;
  return (
    <>
      {daysLeft < SOON_DAYS && (
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
          Subject: subject,
          'Issued by': issuer,
          'Valid from': <Time at={validFrom} exact />,
          'Valid until': <Time at={validUntil} exact />,
          'SHA-256': <Copyable text={fingerprint} />,
        }}
      />
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
