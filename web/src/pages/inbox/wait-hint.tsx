import { ChevronRight, FlaskConical } from 'lucide-react';
import { CodeBlock } from '../../parts/copy.tsx';
import { useSession } from '../../session.tsx';

/** How tests of other programs read captured mail. */
export function WaitHint() {
  const { apiUrl } = useSession();
  const base = (apiUrl ?? 'http://localhost:8025').replace(/\/+$/, '');
  const command = [
    `curl '${base}/api/v1/inbox/wait?to=ann@example.com&subject=code&timeout=30'`,
    '  -H "Authorization: Bearer $WAYBILL_KEY"',
  ].join(' \\\n');
  return (
    <details className="group rounded-lg border border-line bg-surface">
      <summary className="flex list-none items-center gap-2 rounded-lg px-4 py-2.5 hover:bg-sunken/60">
        <FlaskConical aria-hidden size={15} className="shrink-0 text-soft" />
        <span className="min-w-0 flex-1">
          <span className="font-medium">Read it from your tests</span>
          <span className="text-soft max-sm:hidden">
            {' '}
            wait for a mail, and get its text, links and codes as JSON
          </span>
        </span>
        <ChevronRight
          aria-hidden
          size={15}
          className="shrink-0 text-soft transition-transform group-open:rotate-90"
        />
      </summary>
      <div className="space-y-2 border-t border-line px-4 py-3">
        <p className="text-soft">
          Send with a test key, then ask with the same one. The answer comes as soon as the mail is captured.
        </p>
        <CodeBlock label="Wait for a mail" code={command} />
      </div>
    </details>
  );
}
