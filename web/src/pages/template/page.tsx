import { useNavigate, useParams } from '@tanstack/react-router';
import { LayoutTemplate } from 'lucide-react';
import { useEffect } from 'react';
import { ButtonLink } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { LeaveGuard } from '../../parts/unsaved.tsx';
import { plainText, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { PublishedBadges } from '../templates/page.tsx';
import { Acts } from './acts.tsx';
import type { Template } from './draft.ts';
import { EditTab } from './edit-tab.tsx';
import { HistoryTab } from './history-tab.tsx';
import { useTemplateInHand } from './in-hand.ts';

const BACK = { to: '/templates', label: 'Templates' } as const;

/** One template: its texts with a live preview, its history, and which version is sent. */
export function TemplatePage() {
  const { alias } = useParams({ from: '/templates/$alias' });
  const template = useCall('template', { alias, version: null }, { topics: ['templates'] });
  const own = template.data?.alias ?? alias;
  const navigate = useNavigate();
  // An address with the id becomes that with the alias.
  useEffect(() => {
    if (own !== alias) void navigate({ to: '/templates/$alias', params: { alias: own }, replace: true });
  }, [own, alias, navigate]);
  if (template.data && own === alias) return <Editor key={alias} template={template.data} />;
  return (
    <Page title="Template" back={BACK}>
      <Card>
        {template.error?.code === 'not_found' ? (
          <EmptyState
            icon={LayoutTemplate}
            title="There is no such template"
            actions={<ButtonLink label="All templates" to="/templates" />}
          >
            It may have been deleted, or may have another alias.
          </EmptyState>
        ) : (
          <Fetched query={template} lines={9} />
        )}
      </Card>
    </Page>
  );
}

function Editor({ template }: { readonly template: Template }) {
  const { alias, name, version, updatedAt, versions } = template;
  const hand = useTemplateInHand(template);
  const by = versions[0]?.by ?? '';
  return (
    <Page
      wide
      title={plainText(name)}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="min-w-0 break-words">{plainText(name)}</span>
          <PublishedBadges of={template} />
        </span>
      }
      note={
        <span className="flex flex-wrap items-center gap-x-3">
          <Copyable text={alias} />
          <span>
            Version {version}, saved <Time at={updatedAt} />
            {by !== '' && ` by ${plainText(by)}`}
          </span>
        </span>
      }
      back={BACK}
      actions={<Acts template={template} hand={hand} />}
    >
      <PageTabs
        label="About the template"
        tabs={[
          { value: 'edit', label: 'Edit', content: <EditTab template={template} hand={hand} /> },
          { value: 'history', label: 'History', content: <HistoryTab template={template} hand={hand} /> },
        ]}
      />
      <LeaveGuard isDirty={hand.isDirty} within={`/templates/${alias}`} title="Leave without saving?">
        Your changes to the template would be lost.
      </LeaveGuard>
    </Page>
  );
}
