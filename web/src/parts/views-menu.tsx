import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Bookmark, Link2, PenLine, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { SavedViewRow, ViewPage } from '../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../api.ts';
import { steadily } from '../connection.ts';
import { isSame, type Shown, shownOf, stringifySearch } from '../search.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { Menu, MenuGroup, MenuItem, MenuLine, MenuLink } from './menu.tsx';
import { toast } from './toast.tsx';

const SaveDialog = lazy(steadily(async () => ({ default: (await import('./views-dialogs.tsx')).SaveView })));
const ManageDialog = lazy(
  steadily(async () => ({ default: (await import('./views-dialogs.tsx')).ManageViews })),
);

/** What a page shows under names that were saved, and the link to what it shows now. */
export function ViewsMenu({ page }: { readonly page: ViewPage }) {
  const search = useSearch({ strict: false });
  const views = useViews(page);
  const [open, setOpen] = useState<'save' | 'manage' | null>(null);
  const close = () => setOpen(null);
  const shown = shownOf(search);
  const present = views.find((view) => isSame(view.search, shown));
  const own = views.filter((view) => view.own);
  const others = views.filter((view) => !view.own);
  const link = (view: SavedViewRow) => (
    // Sound because the page reads of it what it knows.
    <MenuLink key={view.id} label={view.name} to={page} search={view.search as never} />
  );
  return (
    <>
      <Menu
        trigger={
          <Button
            icon={Bookmark}
            className="max-w-full"
            label={<span className="max-w-40 truncate">{present?.name ?? 'Views'}</span>}
          />
        }
      >
        {own.length > 0 && <MenuGroup label="Yours">{own.map(link)}</MenuGroup>}
        {others.length > 0 && <MenuGroup label="Shared">{others.map(link)}</MenuGroup>}
        {views.length > 0 && <MenuLine />}
        {present === undefined && (
          <MenuItem icon={Plus} label="Save this view…" onSelect={() => setOpen('save')} />
        )}
        {views.length > 0 && (
          <MenuItem icon={PenLine} label="Manage views…" onSelect={() => setOpen('manage')} />
        )}
        <MenuItem
          icon={Link2}
          label="Copy link"
          onSelect={() => copyText(linkTo(page, shown), () => toast.success('The link was copied.'))}
        />
      </Menu>
      <Suspense>
        {open === 'save' && <SaveDialog page={page} shown={shown} onClose={close} />}
        {open === 'manage' && <ManageDialog views={views} shown={shown} onClose={close} />}
      </Suspense>
    </>
  );
}

/** The views of a page, by name. */
function useViews(page: ViewPage): readonly SavedViewRow[] {
  const { data } = useQuery<readonly SavedViewRow[], ApiError>({
    queryKey: ['saved-views'],
    queryFn: () => sessionCall('saved_views', {}),
    meta: { topics: ['views'] },
  });
  return (data ?? []).filter((view) => view.page === page);
}

function linkTo(page: string, shown: Shown): string {
  return new URL(`${page}${stringifySearch(shown)}`, window.location.origin).href;
}
