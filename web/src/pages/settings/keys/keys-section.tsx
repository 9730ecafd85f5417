import { useNavigate, useSearch } from '@tanstack/react-router';
import { KeyRound, MoreHorizontal, Pencil, Plus, RotateCw, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ConfirmAction } from '../../../parts/action.tsx';
import { Badge, type Tone } from '../../../parts/badge.tsx';
import { Button, IconButton } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Checkbox } from '../../../parts/checkbox.tsx';
import { CellActions, type Column, DataTable } from '../../../parts/data-table.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../../parts/menu.tsx';
import { EmptyState, Fetched } from '../../../parts/states.tsx';
import { FilterChips, SearchField, Toolbar } from '../../../parts/toolbar.tsx';
import { Time, useNow } from '../../../parts/values.tsx';
import { useCall } from '../../../queries.ts';
import { useMay } from '../../../session.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { type Key, keyState, SCOPES } from './key-form.ts';
import { SecretOnce } from './secret-once.tsx';

/** What is being done, and to which key. */
type Asked = { readonly act: 'create' } | { readonly act: 'edit' | 'rotate' | 'revoke'; readonly key: Key };

/** API keys: the list, and all that can be done with them. */
export function KeysSection() {
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const mayChange = useMay('admin');
  const { q = '', revoked = false } = useSearch({ from: '/settings/$section' });
  const navigate = useNavigate({ from: '/settings/$section' });
  const look = (next: { readonly q: string; readonly revoked: boolean }) =>
    void navigate({
      search: { ...(next.q !== '' && { q: next.q }), ...(next.revoked && { revoked: true }) },
      replace: true,
    });
  const now = useNow();
  const [asked, setAsked] = useState<Asked | null>(null);
  const columns = useMemo(() => columnsOf(mayChange ? setAsked : null), [mayChange]);
  const close = () => setAsked(null);
  const ended = keys.data?.filter((key) => isEnded(key, now)).length ?? 0;
  return (
    <>
      <Toolbar>
        <SearchField label="Search keys" value={q} onSearch={(next) => look({ q: next, revoked })} />
        <FilterChips
          label="Show"
          choices={[{ value: 'ended', label: 'Revoked and expired', count: ended }]}
          value={revoked ? ['ended'] : []}
          onChange={(value) => look({ q, revoked: value.length > 0 })}
        />
        {mayChange && (
          <Button look="primary" icon={Plus} onClick={() => setAsked({ act: 'create' })}>
            Create key
          </Button>
        )}
      </Toolbar>
      <Card flush>
        <Fetched query={keys}>
          {(rows) => (
            <DataTable
              label="API keys"
              columns={columns}
              rows={shown(rows, q, revoked, now)}
              rowId={({ id }) => id}
              {...(mayChange && { onOpen: (key: Key) => setAsked({ act: 'edit', key }) })}
              empty={
                <NoKeys
                  isFiltered={rows.length > 0}
                  onCreate={mayChange ? () => setAsked({ act: 'create' }) : null}
                />
              }
            />
          )}
        </Fetched>
      </Card>
      <KeyDrawer
        key={asked?.act === 'edit' ? asked.key.id : 'new'}
        open={asked?.act === 'create' || asked?.act === 'edit'}
        of={asked?.act === 'edit' ? asked.key : null}
        onClose={close}
      />
      {asked?.act === 'rotate' && <RotateDialog of={asked.key} onClose={close} />}
      {asked?.act === 'revoke' && <RevokeDialog of={asked.key} onClose={close} />}
    </>
  );
}

function isEnded(key: Key, now: number): boolean {
  return ['revoked', 'expired'].includes(keyState(key, now));
}

function shown(keys: readonly Key[], q: string, ended: boolean, now: number): readonly Key[] {
  const word = q.toLowerCase();
  return keys.filter(
    (key) =>
      isEnded(key, now) === ended &&
      [key.name, key.prefix, key.id, ...key.senderDomains].some((text) => text.toLowerCase().includes(word)),
  );
}

function NoKeys({
  isFiltered,
  onCreate,
}: {
  readonly isFiltered: boolean;
  readonly onCreate: (() => void) | null;
}) {
  if (isFiltered) return <EmptyState icon={KeyRound} title="No key is like that" />;
  return (
    <EmptyState
      icon={KeyRound}
      title="No key yet"
      actions={
        onCreate && (
          <Button look="primary" icon={Plus} onClick={onCreate}>
            Create key
          </Button>
        )
      }
    >
      Programs send with a key, over HTTP and SMTP. Give each its own.
    </EmptyState>
  );
}

function columnsOf(ask: ((asked: Asked) => void) | null): readonly Column<Key>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(0, 1.6fr)',
      sort: ({ name }) => name.toLowerCase(),
      cell: (key) => (
        <span className="block min-w-0">
          <span className="flex min-w-0 items-center gap-2">
            <span className="truncate font-medium" title={key.name}>
              {key.name}
            </span>
            {key.mode === 'test' && (
              <Badge tone="accent" title="Its mail is always captured, and never leaves.">
                Test
              </Badge>
            )}
          </span>
          <span className="block truncate font-mono text-xs text-soft">{key.prefix}…</span>
        </span>
      ),
    },
    { id: 'scopes', header: 'May', cell: ({ scopes }) => <ScopesText scopes={scopes} /> },
    { id: 'limits', header: 'Bound to', width: 'minmax(0, 1.3fr)', cell: (key) => <Bounds of={key} /> },
    {
      id: 'used',
      header: 'Last used',
      width: '7.5rem',
      sort: ({ lastUsedAt }) => lastUsedAt ?? '',
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="text-soft">never</span> : <Time at={lastUsedAt} />,
    },
    {
      id: 'created',
      header: 'Created',
      width: '7rem',
      sort: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    { id: 'state', header: 'State', width: '8rem', card: 'line', cell: (key) => <KeyStateBadge of={key} /> },
    ...(ask === null
      ? []
      : [
          {
            id: 'acts',
            header: 'Actions',
            headerHidden: true,
            width: '2.25rem',
            align: 'end' as const,
            card: 'aside' as const,
            cell: (key: Key) => <KeyMenu of={key} ask={ask} />,
          },
        ]),
  ];
}

function Bounds({ of: { senderDomains, cidrs, rateLimit, expiresAt } }: { readonly of: Key }) {
  const words = [
    senderDomains.length > 0 &&
      (senderDomains.length === 1 ? senderDomains[0] : `${senderDomains.length} domains`),
    cidrs.length > 0 && (cidrs.length === 1 ? cidrs[0] : `${cidrs.length} ranges`),
    rateLimit !== null && (rateLimit === 0 ? 'no rate limit' : `${rateLimit.toLocaleString('en-US')}/min`),
    expiresAt !== null && `until ${expiresAt.slice(0, 10)}`,
  ].filter((word) => typeof word === 'string');
  if (words.length === 0) return <span className="text-soft">nothing</span>;
  return <span className="text-sm break-words">{words.join(', ')}</span>;
}

function KeyMenu({ of, ask }: { readonly of: Key; readonly ask: (asked: Asked) => void }) {
  if (of.revokedAt !== null) return null;
  return (
    <CellActions>
      <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${of.name}`} small />}>
        <MenuItem icon={Pencil} onSelect={() => ask({ act: 'edit', key: of })}>
          Edit
        </MenuItem>
        <MenuItem icon={RotateCw} onSelect={() => ask({ act: 'rotate', key: of })}>
          Rotate: a new secret
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Trash2} danger onSelect={() => ask({ act: 'revoke', key: of })}>
          Revoke
        </MenuItem>
      </Menu>
    </CellActions>
  );
}

const STATES: Readonly<Record<ReturnType<typeof keyState>, readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  expiring: ['warn', 'Expires soon'],
  expired: ['bad', 'Expired'],
  revoked: ['neutral', 'Revoked'],
};

/** Whether a key can be used. */
function KeyStateBadge({ of }: { readonly of: Key }) {
  const [tone, word] = STATES[keyState(of, useNow())];
  return (
    <Badge tone={tone} dot>
      {word}
    </Badge>
  );
}

/** What a key may do, in a few words. */
function ScopesText({ scopes }: { readonly scopes: Key['scopes'] }) {
  const words = SCOPES.filter(({ scope }) => scopes.includes(scope)).map(({ label }) => label);
  return scopes.includes('admin') ? <Badge tone="accent">Admin</Badge> : words.join(', ');
}

/** Takes a key away, once that was asked for again. */
function RevokeDialog({ of, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const [cancelQueued, setCancelQueued] = useState(false);
  return (
    <ConfirmAction
      operation="revokeKey"
      request={{ key: of.id, cancelQueued }}
      changes={['keys', 'messages', 'queue']}
      done={`${of.name} is revoked`}
      onDone={onClose}
      quiet={false}
      onClose={onClose}
      title="Revoke this key?"
      confirm="Revoke key"
      danger
    >
      <p>
        Whatever uses <strong className="font-semibold break-words">{of.name}</strong> gets 401 within a
        second, and for good. To change its secret alone, rotate it instead.
      </p>
      <p className="text-soft">
        {of.lastUsedAt === null ? (
          'It was never used.'
        ) : (
          <>
            It was used last <Time at={of.lastUsedAt} />.
          </>
        )}
      </p>
      <Checkbox
        label="Cancel what it has queued"
        hint="Without this, mail that it has submitted is still delivered."
        checked={cancelQueued}
        onChange={setCancelQueued}
      >
        Cancel what it has queued, too
      </Checkbox>
    </ConfirmAction>
  );
}

/** Gives a key a second secret, and shows it once. */
function RotateDialog({ of, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null)
    return (
      <Dialog
        open
        onClose={onClose}
        title="The new secret"
        description={<span className="break-words">{of.name}</span>}
        footer={
          <Button look="primary" onClick={onClose}>
            I have copied it
          </Button>
        }
      >
        <SecretOnce secret={secret} />
        <p className="mt-3 text-soft">
          The old secret works for another 24 hours. Put the new one in its place before then.
        </p>
      </Dialog>
    );
  return (
    <ConfirmAction
      operation="rotateKey"
      request={{ key: of.id }}
      changes={['keys']}
      onDone={(rotated) => setSecret(rotated.secret)}
      quiet={false}
      onClose={onClose}
      title="Give this key a new secret?"
      confirm="Make a new secret"
    >
      <p>
        <strong className="font-semibold break-words">{of.name}</strong> stays the same key, with its limits
        and its messages. The old secret works for another 24 hours beside the new one.
      </p>
    </ConfirmAction>
  );
}
