import { FileUp, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Button } from '../../parts/button.tsx';
import { Card, KeyValue } from '../../parts/card.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Time } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { UploadCertificate } from './upload-certificate.tsx';

type Certificate = ResultOf<'certificate'>;

/** Under so many days left, it is time to do something. */
const SOON_DAYS = 14;

const ORIGINS: Readonly<Record<Certificate['origin'], string>> = {
  'self-signed': 'Self-signed by this server, which renews it by itself',
  uploaded: 'Uploaded here',
  file: 'From the file in tls.cert_file, read again when it changes',
};

/** The certificate that is shown to clients, and how to put another in its place. */
export function CertificateCard() {
  const certificate = useCall('certificate', {}, { topics: ['settings', 'health'] });
  const mayChange = useMay('admin');
  const [asked, setAsked] = useState<'upload' | 'renew' | null>(null);
  const renew = useAct('renewCertificate', {
    changes: ['settings', 'health'],
    done: 'A new self-signed certificate is in use',
    onDone: () => setAsked(null),
  });
  const origin = certificate.data?.origin;
  const close = () => setAsked(null);
  return (
    <Card
      title="Certificate"
      actions={
        mayChange &&
        origin !== undefined &&
        origin !== 'file' && (
          <>
            <Button small icon={RefreshCw} onClick={() => setAsked('renew')}>
              {origin === 'uploaded' ? 'Back to self-signed' : 'Renew'}
            </Button>
            <Button small icon={FileUp} onClick={() => setAsked('upload')}>
              Upload
            </Button>
          </>
        )
      }
    >
      <Fetched query={certificate}>{(data) => <Facts certificate={data} />}</Fetched>
      <UploadCertificate open={asked === 'upload'} onClose={close} />
      <ConfirmDialog
        open={asked === 'renew'}
        onClose={close}
        onConfirm={() => renew.mutate({})}
        busy={renew.isPending}
        title="Make a new self-signed certificate?"
        confirm="Make a new one"
      >
        <p>
          It takes the place of the present one at once. Browsers and clients that have been told to trust
          that will ask again.
        </p>
      </ConfirmDialog>
    </Card>
  );
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
              ? 'It should have renewed itself: look at the log.'
              : 'Clients that check certificates will refuse to connect.'}
          </Banner>
        </div>
      )}
      <KeyValue
        rows={[
          ['From', ORIGINS[origin]],
          [
            'For',
            <span key="names" className="flex flex-wrap gap-1">
              {names.map((name) => (
                <Badge key={name}>{name}</Badge>
              ))}
            </span>,
          ],
          ['Subject', subject],
          ['Issued by', issuer],
          ['Valid from', <Time key="from" at={validFrom} exact />],
          ['Valid until', <Time key="until" at={validUntil} exact />],
          ['SHA-256', <Copyable key="print" text={fingerprint} />],
        ]}
      />
    </>
  );
}
