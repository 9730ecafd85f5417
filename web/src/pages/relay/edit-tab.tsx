import { ArrowRight } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { Banner } from '../../parts/banner.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { useAct, useCall } from '../../queries.ts';
import {
  definitionChanges,
  type RelayForm,
  secretFields,
  secretsOf,
  wantsSecretAnew,
} from '../relays/definition.ts';
import { RelayFields } from '../relays/relay-fields.tsx';
import { RelayHelp } from '../relays/relay-help.tsx';
import { RelayTest } from '../relays/relay-test.tsx';
import { useRelayForm } from '../relays/use-relay-form.ts';
import { showSetting } from '../settings/setting-values.ts';
import type { RelayDetail } from './overview-tab.tsx';

/** The form of a stored relay. */
export function EditTab({ relay }: { readonly relay: RelayDetail }) {
  const forms = useCall('relayForms', {});
  return (
    <Fetched query={forms} lines={8}>
      {(all) => {
        const form = all.find(({ type }) => type === relay.type);
        if (!form) return <EmptyState title={`There is no form for the type ${relay.type}`} />;
        return <EditForm form={form} relay={relay} />;
      }}
    </Fetched>
  );
}

function EditForm({ form, relay }: { readonly form: RelayForm; readonly relay: RelayDetail }) {
  const before = relay.definition ?? {};
  const [asked, setAsked] = useState(false);
  const update = useAct('updateRelay', {
    changes: ['relays', 'health'],
    quiet: true,
    done: `${relay.name} was changed`,
  });
  const hand = useRelayForm(form, before, update.error, update.reset);
  const after = { ...hand.definition, name: relay.name };
  const changes = definitionChanges({ ...before, type: form.type, name: relay.name }, after);
  const anew = relay.hasSecret && secretFields(form).length > 0 && wantsSecretAnew(form, before, after);
  const secret = secretsOf(hand.secrets);
  const facts = (name: string) => ({
    key: name,
    unit: null,
    ...form.fields.find((field) => field.name === name),
  });
  const isDirty = changes.length > 0 || secret !== null;
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    hand.try(event.currentTarget);
    if (hand.isWhole && isDirty) setAsked(true);
  };
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <Card title="Definition">
        <form onSubmit={submit} noValidate className="space-y-5">
          <RelayFields
            form={form}
            drafts={hand.drafts}
            faults={hand.faults.fields}
            onChange={hand.change}
            secrets={hand.secrets}
            onSecret={hand.setSecret}
            keepsSecret={relay.hasSecret && !anew}
            fixedName
          />
          {anew && (
            <Banner level="warning" title="Give the secret anew">
              It would go elsewhere than before, and so the stored one is not used for it.
            </Banner>
          )}
          <FormError>{hand.faults.rest}</FormError>
          <Button type="submit" look="primary" disabled={!isDirty}>
            Review and save
          </Button>
        </form>
      </Card>
      <div className="min-w-0 space-y-5">
        <RelayHelp form={form} />
        <Card title="Test" note={isDirty ? 'As it is written here, not yet saved.' : 'As it is stored.'}>
          {isDirty && relay.hasSecret && secret === null ? (
            <p className="text-soft">
              To test what is not saved, give the secret again: the stored one never leaves the server for a
              test.
            </p>
          ) : (
            <RelayTest
              key={String(isDirty)}
              name={relay.name}
              type={form.type}
              unsaved={isDirty ? () => ({ definition: after, secret }) : null}
            />
          )}
        </Card>
      </div>
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        onConfirm={() =>
          update.mutate({ name: relay.name, definition: after, secret }, { onSettled: () => setAsked(false) })
        }
        busy={update.isPending}
        title="Change this relay?"
        confirm="Save the changes"
      >
        <p>It holds at once, also for mail that waits.</p>
        <ul className="space-y-2">
          {changes.map(({ name, before: was, after: is }) => (
            <li key={name}>
              <code className="font-mono text-sm">{name}</code>
              <span className="flex flex-wrap items-center gap-2 break-all">
                <span className="text-soft line-through">{showSetting(was, facts(name))}</span>
                <ArrowRight aria-label="becomes" size={14} className="text-soft" />
                <span className="font-medium">{showSetting(is, facts(name))}</span>
              </span>
            </li>
          ))}
          {secret !== null && <li>The secret is replaced.</li>}
        </ul>
      </ConfirmDialog>
    </div>
  );
}
