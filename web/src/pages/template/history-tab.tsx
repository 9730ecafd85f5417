import { History, RotateCcw, Upload } from 'lucide-react';
import { useMemo } from 'react';
import { useAddress } from '../../address.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { type Column, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Card } from '../../parts/page.tsx';
import { Banner, EmptyState, Fetched } from '../../parts/states.tsx';
import { plainText, Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { usePublish } from './acts.tsx';
import { TemplateDifferences } from './differences-view.tsx';
import type { Template } from './draft.ts';
import type { TemplateInHand } from './in-hand.ts';

type Version = Template['versions'][number];

/** The versions that are kept, what each changed, and a way back to it. */
export function HistoryTab({
  template,
  hand,
}: {
  readonly template: Template;
  readonly hand: TemplateInHand;
}) {
  const [{ version }, put] = useAddress();
  const { versions, publishedVersion } = template;
  const columns = useMemo(() => columnsOf(publishedVersion), [publishedVersion]);
  const shown = versions.find((one) => String(one.version) === version);
  return (
    <Card title="Versions" note="Every saved version, the newest first." flush>
      <DataTable
        label="Versions of the template"
        columns={columns}
        rows={versions}
        rowId={(one) => String(one.version)}
        onOpen={(one) => put({ version: String(one.version) })}
        empty={<EmptyState icon={History} title="Nothing was saved yet" />}
      />
      {shown && (
        <VersionDrawer
          key={shown.version}
          shown={shown}
          template={template}
          hand={hand}
          onClose={() => put({ version: undefined, against: undefined })}
        />
      )}
    </Card>
  );
}

function columnsOf(published: number | null): readonly Column<Version>[] {
  return [
    {
      header: 'Version',
      width: '11rem',
      cell: ({ version }) => (
        <span className="inline-flex items-center gap-2">
          <span className="font-medium">{version}</span>
          {version === published && (
            <Badge tone="good" dot>
              Published
            </Badge>
          )}
        </span>
      ),
    },
    {
      header: 'What changed',
      width: 'minmax(0, 2fr)',
      card: 'plain',
      cell: ({ note }) => <Said text={note} none="no note" />,
    },
    {
      header: 'By',
      width: '10rem',
      card: 'figure',
      cell: ({ by }) => <Said text={by} none="command line" />,
    },
    timeColumn({ header: 'Saved', width: '7rem', card: 'aside' }, ({ at }) => at),
  ];
}

function VersionDrawer({
  shown: { version, at, by, note },
  template,
  hand,
  onClose,
}: {
  readonly shown: Version;
  readonly template: Template;
  readonly hand: TemplateInHand;
  readonly onClose: () => void;
}) {
  const { alias, versions, publishedVersion } = template;
  const mayWrite = useMay('operator');
  const publish = usePublish(template);
  const [{ against }, put] = useAddress();
  const others = versions.map((one) => one.version).filter((other) => other !== version);
  const before = others.find((other) => other < version);
  const other = others.find((one) => String(one) === against) ?? before ?? others[0];
  const isNewest = version === template.version;
  const one = useCall('template', { alias, version });
  const compared = useCall('template', { alias, version: other ?? version });
  return (
    <Dialog
      kind="drawer"
      size="large"
      onClose={onClose}
      title={`Version ${version}`}
      description={
        <>
          Saved <Time at={at} exact /> by {plainText(by) || 'the command line'}
          {note !== '' && `: ${plainText(note)}`}
        </>
      }
      footer={
        mayWrite && (
          <>
            {!isNewest && (
              <Button
                icon={RotateCcw}
                label="Restore"
                busy={hand.isSaving}
                disabled={hand.isDirty || !one.data}
                title={`Saves it again, as version ${template.version + 1}.`}
                onClick={() => {
                  if (one.data) hand.restore(one.data);
                  onClose();
                }}
              />
            )}
            {version !== publishedVersion && (
              <Button look="primary" icon={Upload} label="Publish" onClick={() => publish(version)} />
            )}
          </>
        )
      }
    >
      {other === undefined ? (
        <p className="text-soft">There is no other version to compare it with.</p>
      ) : (
        <div className="space-y-4">
          {mayWrite && hand.isDirty && !isNewest && (
            <Banner>To restore this version, first save or discard what you are editing.</Banner>
          )}
          <Select
            label="Compared with"
            className="max-w-60"
            value={String(other)}
            choices={others.map((each) => ({
              value: String(each),
              label: `Version ${each}${wordOf(each, before, template)}`,
            }))}
            onChange={(next) => put({ against: next })}
          />
          <Fetched query={one}>
            {(shown) => (
              <Fetched query={compared}>
                {(other_) =>
                  other_.version < shown.version ? (
                    <TemplateDifferences older={other_} newer={shown} />
                  ) : (
                    <TemplateDifferences older={shown} newer={other_} />
                  )
                }
              </Fetched>
            )}
          </Fetched>
        </div>
      )}
    </Dialog>
  );
}

/** What is special about a version. */
function wordOf(version: number, before: number | undefined, template: Template): string {
  if (version === template.publishedVersion) return ', published';
  if (version === template.version) return ', the newest';
  return version === before ? ', the one before' : '';
}
