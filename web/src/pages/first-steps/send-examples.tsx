import { useState } from 'react';
import { CodeBlock, Copyable } from '../../parts/copy.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { Banner } from '../../parts/states.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { useCall } from '../../queries.ts';
import { type SignedIn, useSession } from '../../session.tsx';
import { quoted } from '../message/curl.ts';

type Way = 'curl' | 'smtp' | 'values';
type Smtp = NonNullable<SignedIn['smtp']>;

/** Ways to send a first message with a key, ready to be pasted. */
export function SendExamples({
  secret,
  senderDomains = [],
}: {
  readonly secret: string;
  /** The domains that the key is bound to; empty for any. */
  readonly senderDomains?: readonly string[];
}) {
  const { apiUrl, smtp } = useSession();
  const [way, setWay] = useState<Way>(apiUrl === null ? 'smtp' : 'curl');
  const certificate = useCall('certificate', {}, { enabled: apiUrl?.startsWith('https:') ?? false });
  const domains = useCall('domains', {}, { topics: ['domains'], enabled: senderDomains.length === 0 });
  const domain = senderDomains[0] ?? domains.data?.[0]?.name ?? 'example.com';
  const facts = { secret, from: `hello@${domain}`, to: 'you@example.com' };
  const selfSigned = certificate.data?.origin === 'self-signed';
  if (apiUrl === null && smtp === null)
    return (
      <Banner level="warning" title="No port accepts mail">
        Both the HTTP API and the SMTP listener are switched off: see their settings.
      </Banner>
    );
  const tabs: readonly (Tab<Way> | false)[] = [
    apiUrl !== null && {
      value: 'curl',
      label: 'curl',
      content: <CodeBlock label="command" code={curlExample({ ...facts, apiUrl, selfSigned })} />,
    },
    smtp !== null && {
      value: 'smtp',
      label: 'SMTP',
      content: <CodeBlock label="command" code={smtpExample(facts, smtp)} />,
    },
    smtp !== null && {
      value: 'values',
      label: 'For your program',
      content: <SmtpValues secret={secret} {...smtp} />,
    },
  ];
  return <Tabs label="Ways to send" tabs={tabs} value={way} onChange={setWay} />;
}

function SmtpValues({ secret, host, port }: Smtp & { readonly secret: string }) {
  return (
    <KeyValue
      rows={{
        Host: <Copyable text={host} />,
        Port: <Copyable text={String(port)} />,
        Security: <Copyable text="STARTTLS" />,
        'User name': <Copyable text="waybill" />,
        Password: <Copyable text={secret} />,
      }}
    />
  );
}

// Commands to paste that send a message. Whatever is put into them is quoted for a shell.

/** What an example is made of. */
export interface ExampleFacts {
  /** Of the API, such as `http://localhost:8025`. */
  readonly apiUrl: string;
  readonly secret: string;
  readonly from: string;
  readonly to: string;
  /** The certificate is self-signed: clients must be told to take it. */
  readonly selfSigned?: boolean;
}

/** What the first message says. */
const FIRST_SUBJECT = 'Hello from Waybill';

/** A message by the HTTP API. */
export function curlExample({ apiUrl, secret, from, to, selfSigned = false }: ExampleFacts): string {
  const message = { from, to: [to], subject: FIRST_SUBJECT, text: 'My first message.' };
  const insecure = selfSigned && apiUrl.startsWith('https:') ? ' --insecure' : '';
  return [
    `curl${insecure} ${quoted(`${apiUrl.replace(/\/$/, '')}/api/v1/messages`)}`,
    `  -H ${quoted(`Authorization: Bearer ${secret}`)}`,
    `  -H ${quoted('Content-Type: application/json')}`,
    `  -d ${quoted(JSON.stringify(message))}`,
  ].join(' \\\n');
}

/** A message by SMTP. */
export function smtpExample(
  { secret, from, to }: Pick<ExampleFacts, 'secret' | 'from' | 'to'>,
  { host, port }: Smtp,
): string {
  const server = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return [
    `swaks --server ${quoted(server)} --tls`,
    `  --auth PLAIN --auth-user waybill --auth-password ${quoted(secret)}`,
    `  --from ${quoted(from)} --to ${quoted(to)}`,
    `  --header ${quoted(`Subject: ${FIRST_SUBJECT}`)} --body ${quoted('My first message.')}`,
  ].join(' \\\n');
}
