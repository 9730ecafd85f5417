import type { Command } from 'commander';
import type { TableForm } from '../operations/command.ts';
import type { RequestsPage } from '../operations/requests.ts';
import type { Context } from './context.ts';
import { groupCommand, tableText } from './operation-command.ts';

/** `waybill keys …`: API keys, and what became of their requests. A file of its own: `run.ts` has no words for people. */
export function keysCommand(context: Context): Command {
  return groupCommand(context, {
    name: 'keys',
    title: 'API keys',
    texts: { requestLog: (page, { columns }) => requestsText(page, columns) },
  });
}

type LoggedRequest = RequestsPage['requests'][number];

/** Requests under each other. */
const REQUESTS: TableForm<LoggedRequest> = {
  columns: {
    TIME: ({ at }) => at,
    KEY: ({ key }) => key ?? '(unknown)',
    FROM: ({ sourceAddress }) => sourceAddress ?? '',
    METHOD: ({ method }) => method,
    PATH: ({ path, session }) => (session === null ? path : sessionText(session)),
    STATUS: ({ status }) => (status === null ? 'left' : String(status)),
    WHY: ({ code, faults }) =>
      [code ?? '', ...faults.map(({ pointer, code }) => `${pointer} ${code}`)].join(' '),
    MS: ({ durationMs }) => String(durationMs),
    FOR: ({ standsFor }) => (standsFor === 1 ? '' : `${standsFor} requests`),
    ID: ({ requestId }) => requestId,
  },
  empty: 'There are no such requests. They are kept for retention.requests_days.',
  fits: true,
};

/** What a session came to. */
function sessionText({
  offered,
  accepted,
  hello,
}: Pick<NonNullable<LoggedRequest['session']>, 'offered' | 'accepted' | 'hello'>): string {
  return `${accepted} of ${offered} ${offered === 1 ? 'message' : 'messages'}${hello === null ? '' : `, ${hello}`}`;
}

/** A page for people: the requests, then what the codes mean, then how to go on. */
function requestsText({ requests, nextCursor }: RequestsPage, columns: number | null): string {
  const meanings = requests.flatMap(({ code, meaning, faults }) =>
    [{ code, meaning }, ...faults].map((one) => ({ code: one.code, meaning: one.meaning })),
  );
  const known = new Map(meanings.flatMap(({ code, meaning }) => (code && meaning ? [[code, meaning]] : [])));
  const parts = [
    tableText(REQUESTS, requests, columns),
    [...known].map(([code, meaning]) => `${code}: ${meaning}`).join('\n'),
    nextCursor === undefined ? '' : `There are more: --cursor ${nextCursor}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}
