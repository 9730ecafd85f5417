import { MailQuestion, Mails } from 'lucide-react';
import { ButtonLink } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { useSession } from '../../session.tsx';
import { curlOf } from '../message/curl.ts';
import { TOKENS } from './query-text.ts';

/** No message has ever come: how to send the first. */
export function NoMail() {
  const { apiUrl } = useSession();
  const first = {
    from: 'you@example.com',
    to: ['you@example.com'],
    subject: 'Hello from Waybill',
    text: 'It works.',
  };
  return (
    <>
      <EmptyState
        icon={Mails}
        title="No mail yet"
        actions={
          <>
            <ButtonLink to="/settings/$section" params={{ section: 'api-keys' }} look="primary">
              Create an API key
            </ButtonLink>
            <ButtonLink to="/first-steps">First steps</ButtonLink>
          </>
        }
      >
        What is submitted by the HTTP API or by SMTP is listed here, the moment it is accepted.
      </EmptyState>
      <div className="mx-auto max-w-2xl px-4 pb-10">
        <CodeBlock label="Send a first message" code={curlOf(first, apiUrl ?? 'http://localhost:8025')} />
      </div>
    </>
  );
}

/** Nothing was found: what can be searched for. */
export function NothingFound({ onToken }: { readonly onToken: (token: string) => void }) {
  return (
    <>
      <EmptyState icon={MailQuestion} title="Nothing found">
        Words are looked for in subjects and addresses. Tokens narrow the search; all of them must hold.
      </EmptyState>
      <dl className="mx-auto grid max-w-2xl gap-x-8 px-4 pb-10 sm:grid-cols-2">
        {Object.entries(TOKENS).map(([token, meaning]) => (
          <div key={token} className="flex items-baseline gap-3 border-b border-line py-1.5">
            <dt className="w-18 shrink-0">
              <button
                type="button"
                onClick={() => onToken(token)}
                className="link rounded-sm font-mono text-sm"
                aria-label={`Search by ${token}:`}
              >
                {token}:
              </button>
            </dt>
            <dd className="text-sm text-soft">{meaning}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
