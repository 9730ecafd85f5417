import { FileClock, KeyRound, MoreHorizontal, Pencil, Plus, RotateCw, Trash2 } from 'lucide-react';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import type { ResultOf } from '../../../../../src/operations/table.ts';
import { useAddress } from '../../../address.ts';
import { steadily } from '../../../connection.ts';
import { ask, ConfirmAction } from '../../../parts/ask.tsx';
import { Badge, StatusBadge } from '../../../parts/badge.tsx';
import { Button, ButtonLink, IconButton } from '../../../parts/button.tsx';
import { Checkbox } from '../../../parts/checkbox.tsx';
import { actsColumn, type Column, DataTable, timeColumn } from '../../../parts/data-table.tsx';
import { Menu, MenuItem, MenuLine, MenuLink } from '../../../parts/menu.tsx';
import { Card } from '../../../parts/page.tsx';
import { SecretDialog } from '../../../parts/secret.tsx';
import { EmptyState, Fetched } from '../../../parts/states.tsx';
import { FilterChips, SearchField, Toolbar } from '../../../parts/toolbar.tsx';
import { Time, useNow } from '../../../parts/values.tsx';
import { useCall } from '../../../queries.ts';
import { useMay } from '../../../session.tsx';
import { type Key, keyState, rateWords, SCOPES } from './key-form.ts';
import { SigningAccess } from './signing-access.tsx';
import { useUsualRate } from './usual-rate.ts';

const KeyDrawer = lazy(steadily(() => import('./key-drawer.tsx')));

/** What is being done, and to which key. */
type Asked =
  | { readonly act: 'create' }
  | { readonly act: 'edit' | 'revoke'; readonly key: Key }
  | { readonly act: 'rotated'; readonly key: Key; readonly made: ResultOf<'rotateKey'> };

/** API keys: the list, and all that can be done with them. */
export function KeysSection() {
  const keys = useCall('listKeys', {}, { topics: ['keys'] });
  const mayChange = useMay('admin');
  const [{ q = '', revoked = false }, put] = useAddress();
  const search = useCallback((text: string) => put({ q: text || undefined }), [put]);
  const now = useNow();
  const [asked, setAsked] = useState<Asked | null>(null);
  const usualRate = useUsualRate();
  const columns = useMemo(() => columnsOf(mayChange ? setAsked : null, usualRate), [mayChange, usualRate]);
  const close = () => setAsked(null);
  const create = mayChange && (
    <Button look="primary" icon={Plus} label="Create key" onClick={() => setAsked({ act: 'create' })} />
  );
  const ended = keys.data?.filter((key) => isEnded(key, now)).length ?? 0;
  return (
    <>
      <Toolbar>
        <SearchField label="Search keys" value={q} onSearch={search} />
        <FilterChips
          label="Show"
          choices={[{ value: 'ended', label: 'Revoked and expired', count: ended }]}
          value={revoked ? ['ended'] : []}
          onChange={(value) => put({ revoked: value.length > 0 ? true : undefined })}
        />
        <ButtonLink icon={FileClock} label="Requests" to="/requests" />
        {create}
      </Toolbar>
      <Card flush>
        <Fetched query={keys} shape="table">
          {(rows) => (
            <DataTable
              label="API keys"
              columns={columns}
              rows={shown(rows, q, revoked, now)}
              rowId={({ id }) => id}
              onOpen={mayChange ? (key) => setAsked({ act: 'edit', key }) : undefined}
              empty={
                rows.length > 0 ? (
                  <EmptyState icon={KeyRound} title="No key is like that" />
                ) : (
                  <EmptyState icon={KeyRound} title="No key yet" actions={create}>
                    Programs send with a key, over HTTP and SMTP. Give each its own.
                  </EmptyState>
                )
              }
            />
          )}
        </Fetched>
      </Card>
      <Suspense>
        {asked?.act === 'create' && <KeyDrawer of={null} onClose={close} />}
        {asked?.act === 'edit' && <KeyDrawer of={asked.key} onClose={close} />}
      </Suspense>
      {asked?.act === 'rotated' && (
        <SecretDialog
          title="The new secret"
          description={<span className="break-words">{asked.key.name}</span>}
          secret={asked.made.secret}
          onClose={close}
        >
          <p className="text-soft">
            The old secret works for another 24 hours. Replace it by the new one before then.
          </p>
          {asked.made.signing !== null && <SigningAccess of={asked.made.signing} />}
        </SecretDialog>
      )}
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
      [key.name, key.prefix, key.id, key.accessKeyId ?? '', ...key.senderDomains].some((text) =>
        text.toLowerCase().includes(word),
      ),
  );
}

function columnsOf(open: ((asked: Asked) => void) | null, usualRate: number | null): readonly Column<Key>[] {
  return [
    {
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
            {key.accessKeyId !== null && (
              <Badge title={`Clients of Amazon SES sign with ${key.accessKeyId}.`}>SES</Badge>
            )}
          </span>
          <span className="block truncate font-mono text-xs text-soft">{key.prefix}…</span>
        </span>
      ),
    },
    { header: 'May', cell: ({ scopes }) => <ScopesText scopes={scopes} /> },
    {
      header: 'Bound to',
      width: 'minmax(0, 1.3fr)',
      cell: (key) => <Bounds of={key} usualRate={usualRate} />,
    },
    timeColumn({ header: 'Last used', width: '7.5rem', sorts: true }, (key) => key.lastUsedAt, 'never'),
    timeColumn({ header: 'Created', width: '7rem', sorts: true }, ({ createdAt }) => createdAt),
    { header: 'State', width: '8rem', card: 'aside', cell: (key) => <KeyStateBadge of={key} /> },
    ...(open === null ? [] : [actsColumn<Key>('2.25rem', (key) => <KeyMenu of={key} open={open} />)]),
  ];
}

function Bounds({
  of: { senderDomains, cidrs, rateLimit, expiresAt },
  usualRate,
}: {
  readonly of: Key;
  readonly usualRate: number | null;
}) {
  const words = [
    senderDomains.length > 0 &&
      (senderDomains.length === 1 ? senderDomains[0] : `${senderDomains.length} domains`),
    cidrs.length > 0 && (cidrs.length === 1 ? cidrs[0] : `${cidrs.length} ranges`),
    rateWords(rateLimit, usualRate),
    expiresAt !== null && `until ${expiresAt.slice(0, 10)}`,
  ].filter((word) => typeof word === 'string');
  if (words.length === 0) return <span className="text-soft">nothing</span>;
  return <span className="text-sm break-words">{words.join(', ')}</span>;
}

function KeyMenu({ of, open }: { readonly of: Key; readonly open: (asked: Asked) => void }) {
  if (of.revokedAt !== null) return null;
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${of.name}`} small />}>
      <MenuLink icon={FileClock} label="Requests" to="/requests" search={{ key: of.name }} />
      <MenuItem icon={Pencil} label="Edit" onSelect={() => open({ act: 'edit', key: of })} />
      <MenuItem
        icon={RotateCw}
        label="Rotate: a new secret"
        onSelect={() => askToRotate(of, (made) => open({ act: 'rotated', key: of, made }))}
      />
      <MenuLine />
      <MenuItem icon={Trash2} danger label="Revoke" onSelect={() => open({ act: 'revoke', key: of })} />
    </Menu>
  );
}

/** Whether a key can be used. */
function KeyStateBadge({ of }: { readonly of: Key }) {
  return <StatusBadge status={keyState(of, useNow())} />;
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
      done={`${of.name} is revoked`}
      onClose={onClose}
      title="Revoke this key?"
      confirm="Revoke key"
      danger
      text={
        <>
          <p>
            Whatever uses <strong className="font-semibold break-words">{of.name}</strong> gets 401 within a
            second, permanently. To change only its secret, rotate it instead.
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
        </>
      }
    />
  );
}

/** Gives a key a second secret. */
function askToRotate({ id, name, accessKeyId }: Key, onDone: (made: ResultOf<'rotateKey'>) => void): void {
  ask('rotateKey', {
    request: { key: id },
    onDone,
    title: 'Give this key a new secret?',
    text: (
      <p>
        <strong className="font-semibold break-words">{name}</strong> stays the same key, with its limits and
        its messages. The old secret works for another 24 hours beside the new one
        {accessKeyId !== null && ', and so does the access key that clients of SES sign with'}.
      </p>
    ),
    confirm: 'Make a new secret',
  });
}
