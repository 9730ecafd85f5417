import { Link } from '@tanstack/react-router';
import { Ban, Download, MoreHorizontal, Plus, Search, Trash2, Upload } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useAddress } from '../../address.ts';
import { faultsOf } from '../../faults.ts';
import { ask } from '../../parts/ask.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { actsColumn, type Column, column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched, LoadingState } from '../../parts/states.tsx';
import { SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { ViewsMenu } from '../../parts/views-menu.tsx';
import { useCall, usePages } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { AddDialog } from './add-dialog.tsx';
import { EntryDrawer } from './entry-drawer.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import {
  type Entry,
  fromWords,
  REASON_NAMES,
  REASONS,
  readWanted,
  scopeWords,
  type Wanted,
  withToken,
} from './words.ts';

const PAGE = 100;
/** What a search names. */
const SEARCHED: readonly (keyof Wanted)[] = ['address', 'domain', 'scope', 'stream'];

/** Addresses that get no mail: why, and since when. */
export function SuppressionsPage() {
  const [{ q = '', reason, id }, put] = useAddress();
  const mayAct = useMay('operator');
  const [open, setOpen] = useState<'add' | 'import' | 'export' | null>(null);
  const close = () => setOpen(null);
  const search = useCallback((text: string) => put({ q: text || undefined }), [put]);
  const list = usePages('listSuppressions', {
    request: (cursor: string | null) => ({
      ...readWanted(q),
      reason: reason ?? null,
      since: null,
      until: null,
      limit: PAGE,
      cursor,
    }),
    rows: ({ suppressions }) => suppressions,
    next: ({ nextCursor }) => nextCursor ?? null,
    topics: ['suppressions'],
    keep: true,
  });
  const columns = useMemo(() => columnsOf(mayAct), [mayAct]);
  const { error, isPlaceholderData } = list.query;
  const isFiltered = q !== '' || reason !== undefined;
  const add = <Button look="primary" icon={Plus} label="Add" onClick={() => setOpen('add')} />;
  return (
    <Page
      title="Suppressions"
      note="Addresses that get no mail, because it came back, or their owners do not want it."
      actions={
        <>
          {mayAct && <Button icon={Upload} label="Import" onClick={() => setOpen('import')} />}
          <Button icon={Download} label="Export" onClick={() => setOpen('export')} />
          {mayAct && add}
        </>
      }
    >
      <Toolbar>
        <SearchField
          label="Search the list"
          placeholder="An address, a domain, scope:… or stream:…"
          value={q}
          onSearch={search}
        />
        <Select
          bare
          label="Reason"
          className="w-44 max-w-full"
          value={reason ?? ''}
          onChange={(next) => put({ reason: next === '' ? undefined : next })}
          choices={REASON_CHOICES}
        />
        <ViewsMenu page="/suppressions" />
      </Toolbar>
      <Card flush>
        {error?.code === 'invalid' ? (
          <EmptyState icon={Search} title="Not a search yet">
            {Object.values(faultsOf(error, SEARCHED).fields).join(' ') || error.message}
          </EmptyState>
        ) : (
          <Fetched query={list.query}>
            {() => (
              <DataTable
                label="Suppressed addresses"
                columns={columns}
                rows={list.rows}
                rowId={({ id: one }) => one}
                onOpen={(entry) => put({ id: entry.id })}
                more={list.more}
                empty={
                  isPlaceholderData ? (
                    // Empty is the answer to the former search.
                    <LoadingState shape="table" />
                  ) : isFiltered ? (
                    <NotFound address={readWanted(q).address} />
                  ) : (
                    <EmptyState icon={Ban} title="Nobody is suppressed" actions={mayAct && add}>
                      Addresses come here by themselves: when they turn out not to exist, when their owners
                      call mail spam, or unsubscribe. If you come from another service, import its list.
                    </EmptyState>
                  )
                }
              />
            )}
          </Fetched>
        )}
      </Card>
      {open === 'add' && <AddDialog onClose={close} />}
      {open === 'import' && <ImportDialog onClose={close} />}
      {open === 'export' && <ExportDialog onClose={close} />}
      {id !== undefined && (
        <EntryDrawer
          key={id}
          id={id}
          onClose={() => put({ id: undefined })}
          onRemove={(entry) => askToRemove(entry, () => put({ id: undefined }))}
          onFilter={(token, value) => put({ id: undefined, q: withToken(q, token, value) })}
        />
      )}
    </Page>
  );
}

/** Nothing is found; of an address it says whether an entry for its domain stops it. */
function NotFound({ address }: { readonly address: string | null }) {
  const isMailbox = address !== null && !address.startsWith('*');
  const check = useCall(
    'checkSuppressions',
    { addresses: [address ?? ''], from: null, stream: null },
    { topics: ['suppressions'], enabled: isMailbox },
  );
  const entry = check.data?.results[0]?.suppression;
  return (
    <EmptyState icon={Search} title="No entries match">
      {entry ? (
        <>
          But mail to this address is not sent, because of{' '}
          <Link to="/suppressions" search={{ id: entry.id }} className="link">
            {entry.address}
          </Link>
          .
        </>
      ) : (
        'An address is found as it stands in the list, a domain finds all of its addresses.'
      )}
    </EmptyState>
  );
}

const REASON_CHOICES = [
  { value: '' as const, label: 'Every reason' },
  ...REASON_NAMES.map((value) => ({ value, label: REASONS[value].name })),
];

function columnsOf(mayAct: boolean): readonly Column<Entry>[] {
  return [
    {
      header: 'Address',
      width: 'minmax(0, 1.6fr)',
      cell: ({ address, scope, stream }) => (
        <>
          <Said text={address} className="font-medium" />
          {(scope !== 'global' || stream !== null) && (
            <Said
              text={`${scopeWords(scope)}${stream === null ? '' : `, stream ${stream}`}`}
              className="text-xs text-soft"
            />
          )}
        </>
      ),
    },
    {
      header: 'Reason',
      width: '8rem',
      card: 'aside',
      cell: ({ reason }) => (
        <Badge tone={REASONS[reason].tone} dot title={REASONS[reason].means}>
          {REASONS[reason].name}
        </Badge>
      ),
    },
    {
      header: 'Why',
      width: 'minmax(0, 2fr)',
      card: 'plain',
      cell: ({ evidence, note, source }) => (
        <Said
          text={evidence?.text || note || `from ${fromWords(source)}`}
          lines="several"
          className="line-clamp-2 text-sm text-soft"
        />
      ),
    },
    timeColumn({ header: 'Since', width: '5.5rem', card: 'figure' }, ({ createdAt }) => createdAt),
    column(
      { header: 'Ends', width: '5.5rem', card: 'figure' },
      ({ expiresAt }) => expiresAt,
      (at) => <Time at={at} ahead />,
      'never',
    ),
    ...(mayAct ? [actsColumn<Entry>('2.25rem', (entry) => <EntryMenu of={entry} />)] : []),
  ];
}

function EntryMenu({ of }: { readonly of: Entry }) {
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${of.address}`} small />}>
      <MenuItem icon={Trash2} danger label="Remove" onSelect={() => askToRemove(of)} />
    </Menu>
  );
}

const COMES_BACK = 'If mail to it fails again, it comes back by itself.';
const WAS_ADDED = 'Somebody put it on the list; its note may say why.';

/** What is said before an entry is taken away. */
const AFTER_REMOVAL: Readonly<Record<Exclude<Entry['reason'], 'complaint'>, string>> = {
  unsubscribe: 'Its owner wanted no more of it. Remove it only if they changed their mind.',
  hard_bounce: COMES_BACK,
  soft_bounces: COMES_BACK,
  provider: `${COMES_BACK} Take it off the provider’s own list as well.`,
  manual: WAS_ADDED,
  import: WAS_ADDED,
};

/** Takes an entry away. That of somebody who complained goes only with a word that has to be written. */
function askToRemove({ id, address, reason, scope }: Entry, onDone?: () => void): void {
  const isComplaint = reason === 'complaint';
  ask('removeSuppressions', {
    request: { which: id, complaints: isComplaint },
    done: `The entry for ${address} is removed`,
    ...(onDone && { onDone }),
    title: isComplaint ? 'Send to somebody who complained?' : 'Send to this address again?',
    text: (
      <>
        <p>
          <strong className="font-semibold break-words">{address}</strong>: {scopeWords(scope)} is sent to it
          again, unless another entry stops it.
        </p>
        <p className="text-soft">
          {isComplaint
            ? 'Its owner called mail spam. Mail to people who complained costs you the good will of their mailbox provider: remove it only if they asked for it.'
            : AFTER_REMOVAL[reason]}
        </p>
      </>
    ),
    confirm: 'Remove',
    danger: true,
    ...(isComplaint && { typed: 'complaint' }),
  });
}
