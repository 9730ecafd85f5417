import { linkOptions, useNavigate } from '@tanstack/react-router';
import { LayoutTemplate, Plus, Search } from 'lucide-react';
import { useCallback, useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAddress } from '../../address.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { type Column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { SearchField, Toolbar } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { NewTemplateDialog } from './new-template-dialog.tsx';

type Summary = ResultOf<'templates'>[number];

/** Templates: mail that applications send by name, with values of their own. */
export function TemplatesPage() {
  const [{ q = '' }, put] = useAddress();
  const mayWrite = useMay('operator');
  const templates = useCall('templates', {}, { topics: ['templates'] });
  const [isAdding, setAdding] = useState(false);
  const navigate = useNavigate();
  const search = useCallback((text: string) => put({ q: text || undefined }), [put]);
  const add = <Button look="primary" icon={Plus} label="New template" onClick={() => setAdding(true)} />;
  const isFew = templates.data?.length === 0;
  return (
    <Page
      title="Templates"
      note="Mail that applications send by name, with values of their own."
      actions={mayWrite && add}
    >
      {!isFew && (
        <Toolbar>
          <SearchField
            label="Search templates"
            placeholder="A name, an alias, a subject"
            value={q}
            onSearch={search}
          />
        </Toolbar>
      )}
      <Card flush>
        <Fetched query={templates} lines={6} shape="table">
          {(all) => (
            <DataTable
              label="Templates"
              columns={COLUMNS}
              rows={all.filter((template) => matches(template, q))}
              rowId={({ id }) => id}
              rowLink={({ alias }) => linkOptions({ to: '/templates/$alias', params: { alias } })}
              empty={
                all.length === 0 ? (
                  <EmptyState icon={LayoutTemplate} title="No templates yet" actions={mayWrite && add}>
                    With a template, an application sends a name and values instead of the whole text. Wording
                    and design are changed here, without a new release of the application, and every change
                    can be undone.
                  </EmptyState>
                ) : (
                  <EmptyState icon={Search} title="No templates match">
                    The search looks at names, aliases and subjects.
                  </EmptyState>
                )
              }
            />
          )}
        </Fetched>
      </Card>
      {isAdding && (
        <NewTemplateDialog
          taken={templates.data?.map(({ alias }) => alias) ?? []}
          onClose={() => setAdding(false)}
          onAdded={(alias) => void navigate({ to: '/templates/$alias', params: { alias } })}
        />
      )}
    </Page>
  );
}

function matches({ name, alias, subject }: Summary, query: string): boolean {
  const text = `${name}\n${alias}\n${subject}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const COLUMNS: readonly Column<Summary>[] = [
  {
    header: 'Template',
    width: 'minmax(0, 1.3fr)',
    sort: ({ name }) => name,
    cell: ({ name, alias }) => (
      <>
        <Said text={name} className="font-medium" />
        <Said text={alias} mono className="text-soft" />
      </>
    ),
  },
  {
    header: 'Subject',
    width: 'minmax(0, 1.6fr)',
    card: 'plain',
    cell: ({ subject }) => <Said text={subject} none="(no subject)" className="text-soft" />,
  },
  {
    header: 'Published',
    width: '18rem',
    card: 'plain',
    cell: (template) => <PublishedBadges of={template} />,
  },
  timeColumn({ header: 'Saved', width: '6rem', card: 'figure', sorts: true }, ({ updatedAt }) => updatedAt),
];

/** Which version of a template is sent, and whether there is a newer one. */
export function PublishedBadges({ of }: { readonly of: Pick<Summary, 'version' | 'publishedVersion'> }) {
  const { version, publishedVersion } = of;
  if (publishedVersion === null)
    return (
      <Badge dot title="Messages with it are refused until a version is published.">
        Not published
      </Badge>
    );
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone="good" dot title="Messages with it are made from this version.">
        Version {publishedVersion} published
      </Badge>
      {version > publishedVersion && (
        <Badge tone="warn" title="What was saved since then is not sent.">
          {version} not published
        </Badge>
      )}
    </span>
  );
}
