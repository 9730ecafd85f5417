import { useNavigate, useParams } from '@tanstack/react-router';
import { FlaskConical, Inbox, MousePointerClick } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { useAddress } from '../../address.ts';
import { formatBytes, formatCount } from '../../format.ts';
import { NameFilter } from '../../parts/choice.tsx';
import { classNames } from '../../parts/class-names.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Page } from '../../parts/page.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { useCall } from '../../queries.ts';
import { useMay, useSession } from '../../session.tsx';
import { DeleteButton } from './delete-menu.tsx';
import { type Captured, InboxList, type InboxSearch, useInbox } from './list.tsx';
import { ReadingPane } from './reading-pane.tsx';

/** Most boxes to choose from; a search by box: finds any. */
const MAX_BOXES = 200;

/** Captured mail: a list, and beside it what the chosen message says. */
export function InboxPage() {
  const { id } = useParams({ strict: false });
  const [{ q = '', key, box }, put] = useAddress();
  const search = { q: q || undefined, key, box };
  const navigate = useNavigate();
  const [isAtTop, setAtTop] = useState(true);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const inbox = useInbox(search, isAtTop);
  const boxes = useBoxes(inbox.rows);
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const mayAct = useMay('operator');
  const ask = useCallback(
    (next: Partial<InboxSearch>) => {
      setSelected(new Set());
      // What is open stays open.
      put(next);
    },
    [put],
  );
  const onSearch = useCallback((text: string) => ask({ q: text || undefined }), [ask]);
  const onDeleted = (ids: readonly string[] | null) => {
    setSelected(new Set());
    if (id !== undefined && (ids === null || ids.includes(id)))
      void navigate({ to: '/inbox', search, replace: true });
  };
  return (
    <Page
      title="Inbox"
      note={
        <span className={classNames(id !== undefined && 'max-lg:hidden')}>
          Mail that was captured and never sent.{' '}
          {inbox.newest && (
            <span className="whitespace-nowrap">
              {`${formatBytes(inbox.newest.bytes)} of ${formatBytes(inbox.newest.maxBytes)} kept.`}
            </span>
          )}
        </span>
      }
      actions={
        mayAct && (
          <div className={classNames(id !== undefined && 'max-lg:hidden')}>
            {selected.size > 0 ? (
              <DeleteButton
                label={`Delete ${formatCount(selected.size)} selected`}
                ids={[...selected]}
                onDeleted={() => onDeleted([...selected])}
              />
            ) : (
              <DeleteButton
                label="Delete all"
                disabled={inbox.rows.length === 0}
                ids={null}
                keyName={key ?? null}
                box={box ?? null}
                onDeleted={() => onDeleted(null)}
              />
            )}
          </div>
        )
      }
    >
      <div className={classNames(id !== undefined && 'max-lg:hidden')}>
        <Toolbar>
          <SearchField
            label="Search captured mail"
            placeholder="Search words, or to: subject: …"
            value={q}
            onSearch={onSearch}
          />
          <NameFilter
            label="API key"
            every="Every key"
            names={keys.data?.map(({ name }) => name)}
            value={key}
            onChange={(name) => ask({ key: name })}
          />
          {(boxes.length > 0 || box !== undefined) && (
            <NameFilter
              label="Box"
              every="Every box"
              names={boxes}
              value={box}
              onChange={(name) => ask({ box: name })}
            />
          )}
          <ViewsMenu page="/inbox" />
        </Toolbar>
        {(inbox.first?.notes ?? []).map((note) => (
          <p key={note} role="status" className="mb-2 text-sm text-retrying">
            {note}
          </p>
        ))}
      </div>
      <div className="overflow-hidden rounded-lg border border-line bg-surface lg:grid lg:h-[calc(100dvh-12.5rem)] lg:min-h-[30rem] lg:grid-cols-[minmax(18rem,23rem)_minmax(0,1fr)]">
        <InboxList
          inbox={inbox}
          chosen={id}
          search={search}
          onAtTop={setAtTop}
          className={classNames(id !== undefined && 'max-lg:hidden')}
          selection={mayAct ? { selected, onChange: setSelected } : undefined}
          empty={
            q === '' && key === undefined && box === undefined ? (
              <EmptyState icon={Inbox} title="Nothing captured">
                Mail of test keys, and mail that routes send to the relay{' '}
                <code className="font-mono">inbox</code>, is shown here instead of being sent.
              </EmptyState>
            ) : (
              <EmptyState title="Nothing found">
                Other words, another key or another box may find more.
              </EmptyState>
            )
          }
        />
        <div className="min-w-0 border-line max-lg:contents lg:overflow-y-auto lg:border-l">
          {id === undefined ? (
            <div className="hidden h-full items-center justify-center lg:flex">
              <EmptyState icon={MousePointerClick} title="Choose a message">
                <kbd className="font-mono">j</kbd> and <kbd className="font-mono">k</kbd> go along the list,
                Enter opens.
              </EmptyState>
            </div>
          ) : (
            <ReadingPane key={id} id={id} search={search} onDeleted={() => onDeleted([id])} />
          )}
        </div>
      </div>
      <div className={classNames('mt-4', id !== undefined && 'max-lg:hidden')}>
        <WaitHint />
      </div>
    </Page>
  );
}

/** The boxes that the list has shown: those of a filter remain when another is chosen. */
function useBoxes(rows: readonly Captured[]): readonly string[] {
  const seen = useRef(new Set<string>());
  for (const { box } of rows) if (box !== null && seen.current.size < MAX_BOXES) seen.current.add(box);
  return [...seen.current].sort();
}

/** How tests of other programs read captured mail. */
function WaitHint() {
  const { apiUrl } = useSession();
  const base = (apiUrl ?? 'http://localhost:8025').replace(/\/+$/, '');
  const command = [
    `curl '${base}/api/v1/inbox/wait?to=ann@example.com&subject=code&timeout=30'`,
    '  -H "Authorization: Bearer $WAYBILL_KEY"',
  ].join(' \\\n');
  return (
    <Fold
      icon={FlaskConical}
      title="Read it from your tests"
      note="wait for a mail, and get its text, links and codes as JSON"
      className="bg-surface"
    >
      <div className="space-y-2">
        <p className="text-soft">
          Send with a test key, then ask with the same one. The answer comes as soon as the mail is captured.
        </p>
        <CodeBlock label="Wait for a mail" code={command} />
      </div>
    </Fold>
  );
}
