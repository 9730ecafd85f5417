import { Link, useNavigate } from '@tanstack/react-router';
import { Download, MailQuestion, Mails, PenLine } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { useAddress } from '../../address.ts';
import { steadily } from '../../connection.ts';
import { formatCount, plural } from '../../format.ts';
import { stateWords } from '../../parts/badge.tsx';
import { Button, ButtonLink, FreshButton } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Banner, EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx';
import { type Selection, toggled } from '../../parts/table-row.tsx';
import { Chip, FilterChips, Toolbar } from '../../parts/toolbar.tsx';
import { bareAddress } from '../../parts/values.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { useCall } from '../../queries.ts';
import { IfMay, useMay, useSession } from '../../session.tsx';
import { curlOf } from '../message/curl.ts';
import type { ShownPart } from './all-found.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { MESSAGE_COLUMNS, messageLink } from './columns.tsx';
import { ExportDialog, type ExportFormat } from './export-dialog.tsx';
import { QueryField } from './query-field.tsx';
import {
  type KnownValues,
  messageNamed,
  readTerms,
  someTimes,
  TOKENS,
  type TokenName,
  valuesFor,
  withoutTerm,
  withValues,
} from './query-text.ts';
import { type FoundMessage, type MessageList, useMessageList } from './steady-list.ts';

/** Few open it, and it is no part of the first load. */
const ComposeDialog = lazy(
  steadily(async () => ({ default: (await import('../compose/dialog.tsx')).ComposeDialog })),
);

/** All mail: found by words and tokens, the newest first. */
export function MessagesPage() {
  const [{ q = '' }, put] = useAddress();
  const onSearch = useCallback((query: string) => put({ q: query || undefined }), [put]);
  const list = useMessageList(q);
  useJump(q);
  const known = useKnownValues(list.rows);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are ticked until something else is searched for
  useEffect(() => setSelected(new Set()), [q]);
  const [format, setFormat] = useState<ExportFormat | null>(null);
  const [isComposing, setComposing] = useState(false);
  const [begun, setBegun] = useState<{ readonly token: string } | null>(null);
  const mayAct = useMay('operator');
  const selection = useMemo(() => ({ selected, onChange: setSelected }), [selected]);
  useKeyToSelect(mayAct, selected, setSelected);
  return (
    <Page
      title="Messages"
      actions={
        <IfMay role="operator">
          <Menu trigger={<Button icon={Download} label="Export" disabled={list.rows.length === 0} />}>
            <MenuItem label="As CSV, for spreadsheets" onSelect={() => setFormat('csv')} />
            <MenuItem label="As JSON" onSelect={() => setFormat('json')} />
          </Menu>
          <Button icon={PenLine} look="primary" label="Write" onClick={() => setComposing(true)} />
        </IfMay>
      }
    >
      <Toolbar>
        <QueryField value={q} begun={begun} known={known} onSearch={onSearch} />
        <ViewsMenu page="/messages" />
      </Toolbar>
      <QueryChips query={q} onSearch={onSearch} />
      <WhyLate query={q} />
      <Notes list={list} />
      <FreshPill list={list} />
      <Card flush>
        <Rows
          list={list}
          query={q}
          onToken={(token) => setBegun({ token })}
          selection={mayAct ? selection : undefined}
        />
      </Card>
      {mayAct && (
        <BulkBar
          selected={selected}
          part={shownPart(list, q, selected)}
          onSelect={setSelected}
          onDone={() => setSelected(new Set())}
        />
      )}
      {format !== null && <ExportDialog query={q} format={format} onClose={() => setFormat(null)} />}
      <Suspense>{isComposing && <ComposeDialog onClose={() => setComposing(false)} />}</Suspense>
    </Page>
  );
}

/**
 * What is shown, where all of it is ticked, nothing else is, and more was found; else null. Also where few are found among
 * many: all that is stored would have to be looked at.
 */
function shownPart(
  { rows, more, sparse }: MessageList,
  query: string,
  selected: ReadonlySet<string>,
): ShownPart | null {
  const [first] = rows;
  if (first === undefined || !more.has || sparse || selected.size !== rows.length) return null;
  return rows.every(({ id }) => selected.has(id)) ? { query, first: first.id } : null;
}

/** Goes to the message that the search names, where there is one. The search leaves no step in the history. */
function useJump(query: string): void {
  const navigate = useNavigate();
  const name = messageNamed(query);
  const { data } = useCall('messageStory', { id: name ?? '' }, { enabled: name !== null });
  const id = name === null ? undefined : data?.record.id;
  useEffect(() => {
    if (id !== undefined) void navigate({ to: '/messages/$id', params: { id }, replace: true });
  }, [id, navigate]);
}

function Rows({
  list,
  query,
  onToken,
  selection,
}: {
  readonly list: MessageList;
  readonly query: string;
  readonly onToken: (token: string) => void;
  readonly selection: Selection | undefined;
}) {
  if (list.error && list.rows.length === 0) return <ErrorState error={list.error} onRetry={list.retry} />;
  if (list.loading && list.rows.length === 0)
    return <LoadingState lines={9} shape="table" label="Searching" />;
  return (
    <div className={list.loading ? 'opacity-60 transition-opacity' : undefined} aria-busy={list.loading}>
      <DataTable
        label="Messages"
        columns={MESSAGE_COLUMNS}
        rows={list.rows}
        rowId={({ id }) => id}
        rowLink={messageLink}
        more={list.sparse ? undefined : list.more}
        selection={selection}
        empty={list.more.has ? undefined : query === '' ? <NoMail /> : <NothingFound onToken={onToken} />}
      />
      {list.sparse && <LookFurther list={list} />}
      {list.error && <ErrorState error={list.error} onRetry={list.retry} />}
    </div>
  );
}

/** Few are found among many: further ones are looked for when that is asked for. */
function LookFurther({ list: { rows, more } }: { readonly list: MessageList }) {
  return (
    <div className="flex flex-wrap items-center justify-center gap-x-4 gap-y-2 p-4 text-soft">
      <span role="status">
        {rows.length === 0 ? 'Nothing' : `${plural(rows.length, 'message')} found`} among the newest.
      </span>
      <Button small label="Look further back" busy={more.loading} onClick={more.load} />
    </div>
  );
}

/** A recipient, or all of a domain, that a search asks for. */
const TO_DOMAIN = /(?:^|\s)to:[^\s"*@]*@([a-z\d.-]+)(?=\s|$)/i;

/** Leads from a search for mail to a domain to what is known of all of it. */
function WhyLate({ query }: { readonly query: string }) {
  const domain = TO_DOMAIN.exec(query)?.[1]?.toLowerCase();
  if (domain === undefined) return null;
  return (
    <p className="mb-3 text-sm">
      <Link to="/explore" search={{ domain }} className="link">
        What becomes of mail to {domain}, and why it is late
      </Link>
    </p>
  );
}

/** What the search could not be read as, and what it cannot find yet. */
function Notes({ list: { first } }: { readonly list: MessageList }) {
  const notes = first?.notes ?? [];
  const behind = first?.behind ?? 0;
  return (
    <>
      {notes.length > 0 && (
        <div className="mb-3">
          <Banner level="warning" title="Not all of the search was understood">
            {notes.map((note) => (
              <p key={note}>{note}</p>
            ))}
          </Banner>
        </div>
      )}
      {behind > 0 && (
        <p role="status" className="mb-3 text-sm text-soft">
          {plural(behind, 'message')} not found by words yet: the index is catching up.
        </p>
      )}
    </>
  );
}

function FreshPill({ list: { fresh, showNewest } }: { readonly list: MessageList }) {
  return (
    <div
      aria-live="polite"
      className="pointer-events-none sticky top-[calc(var(--top-bar)+0.5rem)] z-20 flex h-0 justify-center"
    >
      {fresh.count > 0 && (
        <div className="-mt-4">
          <FreshButton onClick={showNewest}>
            {formatCount(fresh.count)}
            {fresh.more && '+'}
          </FreshButton>
        </div>
      )}
    </div>
  );
}

/** `x` ticks the row that has the focus. */
function useKeyToSelect(
  enabled: boolean,
  selected: ReadonlySet<string>,
  onChange: (selected: ReadonlySet<string>) => void,
): void {
  useEffect(() => {
    if (!enabled) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'x' || event.ctrlKey || event.metaKey || event.altKey) return;
      const row = document.activeElement?.closest('[data-list] a[data-row]');
      const id = row?.getAttribute('href')?.split('/').at(-1);
      if (!id) return;
      event.preventDefault();
      onChange(toggled(selected, id));
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [enabled, selected, onChange]);
}

/** What tokens are known to take: names of relays and keys, and what stands in the rows. */
function useKnownValues(rows: readonly FoundMessage[]): KnownValues {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  return useMemo(() => {
    const seen = (values: readonly string[]) => [...new Set(values)].slice(0, 200);
    const newest = rows.slice(0, 200);
    const days = someTimes(Date.now());
    return {
      status: STATUSES,
      relay: relays.data?.map(({ name }) => name) ?? [],
      key: keys.data?.map(({ name }) => name) ?? [],
      tag: seen(newest.flatMap(({ tags }) => tags)),
      to: seen(newest.flatMap(({ to }) => to.map(bareAddress))),
      from: seen(newest.map(({ from }) => bareAddress(from))),
      after: days,
      before: days,
      is: QUALITIES,
    };
  }, [rows, relays.data, keys.data]);
}

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
            <ButtonLink
              label="Create an API key"
              to="/settings/$section"
              params={{ section: 'api-keys' }}
              look="primary"
            />
            <ButtonLink label="First steps" to="/first-steps" />
          </>
        }
      >
        Messages submitted through the HTTP API or SMTP appear here as soon as they are accepted.
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
            <dt className="w-20 shrink-0">
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

const STATUSES = ['queued', 'processing', 'retrying', 'delivered', 'failed'] as const;

const QUALITIES = ['captured', 'scheduled'] as const;

/** What a search asks for, a piece at a time: words to press, and each other token to take away. */
export function QueryChips({
  query,
  onSearch,
}: {
  readonly query: string;
  readonly onSearch: (query: string) => void;
}) {
  const others = readTerms(query).filter(
    ({ token, value, not }) => token !== null && (not || !(token === 'status' || isPressed(token, value))),
  );
  return (
    <div className="mb-3 flex flex-wrap items-center gap-1.5">
      <Pressed token="status" label="Status" choices={STATUSES} query={query} onSearch={onSearch} />
      <span aria-hidden className="mx-1 hidden h-4 w-px bg-line sm:block" />
      <Pressed token="is" label="Only" choices={QUALITIES} query={query} onSearch={onSearch} />
      {others.map((term) => (
        <Chip
          key={`${term.start} ${term.token}`}
          label={`${term.token}: ${term.value}`}
          onRemove={() => onSearch(withoutTerm(query, term))}
        >
          <span className="shrink-0 font-medium">
            {term.not && 'not '}
            {term.token}:
          </span>
          <bdi className="min-w-0 truncate">{term.value}</bdi>
        </Chip>
      ))}
    </div>
  );
}

/** The values of one token as words to press: of several statuses any is meant, of several others all. */
function Pressed<Value extends string>({
  token,
  label,
  choices,
  query,
  onSearch,
}: {
  readonly token: 'status' | 'is';
  readonly label: string;
  readonly choices: readonly Value[];
  readonly query: string;
  readonly onSearch: (query: string) => void;
}) {
  const wanted = valuesFor(query, token).map((value) => value.toLowerCase());
  return (
    <FilterChips
      label={label}
      choices={choices.map((value) => ({ value, label: stateWords(value) }))}
      value={choices.filter((value) => wanted.includes(value))}
      onChange={(next) => onSearch(withValues(query, token, next))}
    />
  );
}

function isPressed(token: TokenName, value: string): boolean {
  return token === 'is' && QUALITIES.some((quality) => quality === value.toLowerCase());
}
