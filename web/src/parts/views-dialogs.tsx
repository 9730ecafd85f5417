import { Bookmark, MoreHorizontal, PenLine, RefreshCw, Trash2, Users } from 'lucide-react';
import { useState } from 'react';
import type { SavedViewRow, ViewPage } from '../../../src/dashboard/contract.ts';
import { useAct } from '../queries.ts';
import { isSame, type Shown } from '../search.ts';
import { useMay, useSessionAct } from '../session.tsx';
import { Badge } from './badge.tsx';
import { Button, IconButton } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Menu, MenuItem, MenuLine } from './menu.tsx';
import { EmptyState } from './states.tsx';
import { TextField } from './text-field.tsx';

const MAX_NAME = 60;

/** Saves what a page shows. */
export function SaveView({
  page,
  shown,
  onClose,
}: {
  readonly page: ViewPage;
  readonly shown: Shown;
  readonly onClose: () => void;
}) {
  const save = useSessionAct('save_view', { quiet: true, done: 'The view was saved.', onDone: onClose });
  return (
    <Form
      sheet={{
        title: 'Save this view',
        description: 'The search and the filters, not what they find. You alone have it.',
        size: 'small',
      }}
      act={save}
      initial={{ name: '' }}
      request={({ name }) => ({ page, name: name.trim(), search: shown })}
      submit="Save view"
      onClose={onClose}
    >
      {({ field }) => <NameField {...field('name')} />}
    </Form>
  );
}

function NameField(field: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}) {
  return <TextField label="Name" required maxLength={MAX_NAME} {...field} />;
}

/** The views of a page, and what can be done with each. */
export function ManageViews({
  views,
  shown,
  onClose,
}: {
  readonly views: readonly SavedViewRow[];
  readonly shown: Shown;
  readonly onClose: () => void;
}) {
  const [renamed, setRenamed] = useState<SavedViewRow | null>(null);
  if (renamed !== null) return <RenameView view={renamed} onClose={() => setRenamed(null)} />;
  return (
    <Dialog title="Saved views" onClose={onClose} footer={<Button label="Close" onClick={onClose} />}>
      {views.length === 0 ? (
        <EmptyState icon={Bookmark} title="No saved views">
          Search or filter the list, and save what it shows.
        </EmptyState>
      ) : (
        <ul className="-my-2 divide-y divide-line">
          {views.map((view) => (
            <li key={view.id} className="flex min-w-0 items-center gap-2 py-1.5">
              <span className="min-w-0 flex-1 break-words">{view.name}</span>
              {view.shared && <Badge>{view.own ? 'Shared' : `Shared by ${view.user}`}</Badge>}
              <ViewMenu view={view} shown={shown} onRename={() => setRenamed(view)} />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function ViewMenu({
  view: { id, name, own, shared, search },
  shown,
  onRename,
}: {
  readonly view: SavedViewRow;
  readonly shown: Shown;
  readonly onRename: () => void;
}) {
  const isOperator = useMay('operator');
  const isAdmin = useMay('admin');
  const change = useSessionAct('change_view', { done: `${name} shows this now.` });
  const remove = useSessionAct('remove_view', { done: `${name} was removed.` });
  const share = useAct('shareView', {
    done: ({ shared: is }) => (is ? `Everybody has ${name} now.` : `${name} is no longer shared.`),
  });
  const mayShare = (own && isOperator) || (shared && isAdmin);
  if (!own && !mayShare) return null;
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} label={`What to do with ${name}`} small />}>
      {own && <MenuItem icon={PenLine} label="Rename…" onSelect={onRename} />}
      {own && !isSame(search, shown) && (
        <MenuItem
          icon={RefreshCw}
          label="Show what the page shows now"
          onSelect={() => change.mutate({ id, name: null, search: shown })}
        />
      )}
      {mayShare && (
        <MenuItem
          icon={Users}
          label={shared ? 'Share no longer' : 'Share with everybody here'}
          onSelect={() => share.mutate({ id, shared: !shared })}
        />
      )}
      {own && (
        <>
          <MenuLine />
          <MenuItem icon={Trash2} danger label="Remove" onSelect={() => remove.mutate({ id })} />
        </>
      )}
    </Menu>
  );
}

function RenameView({ view, onClose }: { readonly view: SavedViewRow; readonly onClose: () => void }) {
  const rename = useSessionAct('change_view', { quiet: true, onDone: onClose });
  return (
    <Form
      sheet={{ title: 'Rename the view', description: view.name, size: 'small' }}
      act={rename}
      initial={{ name: view.name }}
      request={({ name }) => ({ id: view.id, name: name.trim(), search: null })}
      submit="Rename"
      onClose={onClose}
    >
      {({ field }) => <NameField {...field('name')} />}
    </Form>
  );
}
