import { Lock, Plus, Route } from 'lucide-react';
import { useState } from 'react';
import { faultsOf } from '../../faults.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { Banner, EmptyState } from '../../parts/states.tsx';
import { UnsavedBar } from '../../parts/unsaved.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { type Table, type TableInHand, useReorder } from './editing.ts';
import { PublishDialog } from './publish-dialog.tsx';
import { RuleEditor } from './rule-editor.tsx';
import { RuleRow, To, ViaWords } from './rule-row.tsx';
import { freeRuleName, placeOfFault, type RuleDraft, rulesOf } from './rules.ts';

/** The table in force, and what is being changed of it. */
export function RulesTab({ table, hand }: { readonly table: Table; readonly hand: TableInHand }) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const known = relays.data?.map(({ name }) => name) ?? null;
  const isFile = table.origin === 'file' && table.ruleCount > 0;
  const mayChange = useMay('admin') && !isFile;
  const reorder = useReorder(hand.drafts, hand.move);
  const [edited, setEdited] = useState<RuleDraft | null>(null);
  const [publishing, setPublishing] = useState(false);
  const [refusal, setRefusal] = useState<Error | null>(null);
  const publish = useAct('publishRoutes', {
    quiet: true,
    done: ({ version }) => `Version ${version} is in force`,
    onDone: () => {
      setPublishing(false);
      hand.discard();
    },
  });
  const rules = rulesOf(hand.drafts);
  const faults = faultsOf(
    refusal ?? publish.error,
    hand.drafts.map((_, index) => String(index)),
    (path) => placeOfFault(path)?.index.toString() ?? null,
  );
  const add = () =>
    setEdited({
      id: `new-${crypto.randomUUID()}`,
      name: freeRuleName(hand.drafts),
      match: {},
      via: [],
      weighted: false,
    });
  return (
    <div className="space-y-4">
      {isFile && (
        <Banner title="These rules come from the configuration file">
          They are changed there. To change them here, take the section{' '}
          <code className="font-mono">routes</code> out of the file.
        </Banner>
      )}
      <Card
        title={`Version ${table.version}`}
        note="The first rule that matches decides, for each recipient."
        flush
        actions={
          mayChange ? (
            <Button small icon={Plus} label="Add rule" onClick={add} />
          ) : (
            <Badge>
              <Lock aria-hidden size={11} /> {isFile ? 'From the file' : 'Read only'}
            </Badge>
          )
        }
      >
        {hand.drafts.length === 0 ? (
          <EmptyState icon={Route} title="No rules">
            All mail goes through the default relay.
          </EmptyState>
        ) : (
          <ol aria-label="Rules, in order">
            {hand.drafts.map((rule, place) => (
              <RuleRow
                key={rule.id}
                rule={rule}
                place={place}
                known={known}
                fault={faults.fields[String(place)]}
                reorder={mayChange ? reorder : null}
                onEdit={() => setEdited(rule)}
                onRemove={() => hand.remove(rule.id)}
              />
            ))}
          </ol>
        )}
        <div className="flex flex-wrap items-center gap-1 rounded-b-lg border-t border-line bg-paper px-4 py-3">
          <span className="text-soft">Everything else</span> <To />
          <ViaWords via={[{ relay: table.defaultRelay, weight: 1 }]} weighted={false} known={known} />
          <span className="ml-auto text-sm text-soft">the default relay</span>
        </div>
      </Card>
      <div aria-live="assertive" className="sr-only">
        {reorder.said}
      </div>
      <FormError>{publishing ? null : faults.rest}</FormError>
      {hand.isDirty && (
        <UnsavedBar
          save="Rehearse and publish"
          onSave={() => {
            publish.reset();
            setRefusal(null);
            setPublishing(true);
          }}
          onDiscard={hand.discard}
        >
          The table is changed, and not published.
        </UnsavedBar>
      )}
      {edited && (
        <RuleEditor
          key={edited.id}
          rule={edited}
          isNew={!hand.drafts.some(({ id }) => id === edited.id)}
          others={hand.drafts.filter(({ id }) => id !== edited.id).map(({ name }) => name)}
          relays={known ?? []}
          onClose={() => setEdited(null)}
          onPut={(rule) => {
            hand.put(rule);
            setRefusal(null);
            setEdited(null);
          }}
        />
      )}
      {publishing && (
        <PublishDialog
          before={table.rules}
          after={rules}
          title="Publish the changed table?"
          act={publish}
          onPublish={() => publish.mutate({ routes: rules })}
          onClose={() => setPublishing(false)}
          onRefused={setRefusal}
        />
      )}
    </div>
  );
}
