import { useState } from 'react';
import markdown from '../../../../docs/recipes.md?raw';
import { CodeBlock, Copyable } from '../../parts/copy.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { Banner } from '../../parts/states.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { useCall } from '../../queries.ts';
import { type SignedIn, useSession } from '../../session.tsx';
import {
  meetsSelfSigned,
  recipesOf,
  SNIPPETS,
  type Snippet,
  type SnippetFacts,
  shownSnippet,
} from './snippets.ts';

const RECIPES = recipesOf(markdown);

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
  const [way, setWay] = useState(apiUrl === null ? 'smtp_swaks' : 'curl');
  const certificate = useCall('certificate', {}, { topics: ['settings'] });
  const domains = useCall('domains', {}, { topics: ['domains'], enabled: senderDomains.length === 0 });
  if (apiUrl === null && smtp === null)
    return (
      <Banner level="warning" title="No port accepts mail">
        Both the HTTP API and the SMTP listener are switched off: see their settings.
      </Banner>
    );
  const facts: SnippetFacts = {
    apiUrl,
    smtp,
    secret,
    domain: senderDomains[0] ?? domains.data?.[0]?.name ?? null,
    selfSigned: certificate.data?.origin === 'self-signed',
  };
  const tabs = SNIPPETS.map((snippet) => tabOf(snippet, facts));
  return <Tabs label="Ways to send" tabs={tabs} value={way} onChange={setWay} />;
}

function tabOf(snippet: Snippet, facts: SnippetFacts): Tab<string> | false {
  const { recipe, label, file, needs, over } = snippet;
  const shown = shownSnippet(snippet, RECIPES.get(recipe) ?? '', facts);
  if (shown === null) return false;
  return {
    value: recipe,
    label,
    content: (
      <div className="space-y-3">
        {over === 'smtp' && facts.smtp !== null && <SmtpValues secret={facts.secret} {...facts.smtp} />}
        <p className="text-sm text-soft">{needs}</p>
        {shown.code !== null && file !== null && <CodeBlock label={file} code={shown.code} />}
        <CodeBlock label="command" code={shown.command} />
        <p className="text-sm text-soft">
          Run again, it sends nothing twice: its <code className="font-mono">Idempotency-Key</code> is the
          same for a day.
        </p>
        {meetsSelfSigned(snippet, facts) && (
          // No link: it would lead away from a key that is shown this once.
          <p className="text-sm text-soft">
            The certificate here is self-signed: programs trust it only with a copy of{' '}
            <code className="font-mono">tls.crt</code> from the data directory. One of an authority, under
            Settings, TLS certificate, is trusted at once.
          </p>
        )}
      </div>
    ),
  };
}

type Smtp = NonNullable<SignedIn['smtp']>;

/** What the form of a program or a device asks for. */
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
