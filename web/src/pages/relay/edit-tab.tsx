import { useState } from 'react';
import { ConfirmDialog } from '../../parts/ask.tsx';
import { Card } from '../../parts/page.tsx';
import { Banner, EmptyState, Fetched } from '../../parts/states.tsx';
import { useAct, useCall } from '../../queries.ts';
import {
  type Drafts,
  definitionChanges,
  type RelayForm,
  secretFields,
  wantsSecretAnew,
} from '../relays/definition.ts';
import { FilledRelay, givenBy, RelayFields, RelayHelp } from '../relays/relay-fields.tsx';
import { RelayTest } from '../relays/relay-test.tsx';
import { Becomes } from '../settings/review-dialog.tsx';
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
  const { name, hasSecret } = relay;
  const before = relay.definition ?? {};
  const [asked, setAsked] = useState<ReturnType<typeof changesBy> | null>(null);
  const [saves, setSaves] = useState(0);
  const update = useAct('updateRelay', {
    quiet: true,
    done: `${name} was changed`,
  });
  const factsOf = (field: string) => ({
    key: field,
    unit: null,
    ...form.fields.find((each) => each.name === field),
  });
  const changed = (values: Drafts) => changesBy(values, form, relay);
  return (
    <>
      <FilledRelay
        // Without the secret again once that was stored; a changed definition begins the whole tab anew.
        key={saves}
        of={form}
        definition={before}
        act={update}
        request={(_, values) => {
          setAsked(changed(values));
          return null;
        }}
        submit="Review and save"
        disabled={(values) => !changed(values).isDirty}
        layout={(fields, buttons, { values }) => (
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
            <Card title="Definition">
              <div className="space-y-5">
                {fields}
                {buttons}
              </div>
            </Card>
            <div className="min-w-0 space-y-5">
              <RelayHelp form={form} />
              <TestCard relay={relay} {...changed(values)} />
            </div>
          </div>
        )}
      >
        {(hand) => {
          const anew =
            hasSecret &&
            secretFields(form).length > 0 &&
            wantsSecretAnew(form, before, changed(hand.values).after);
          return (
            <>
              <RelayFields
                of={form}
                hand={hand}
                keepsSecret={(field) =>
                  field === 'webhook_secret' ? relay.hasWebhookSecret : hasSecret && !anew
                }
                fixedName
              />
              {anew && (
                <Banner level="warning" title="Give the secret anew">
                  It would go somewhere else than before, so the stored one is not used for it.
                </Banner>
              )}
            </>
          );
        }}
      </FilledRelay>
      {asked && (
        <ConfirmDialog
          open
          onClose={() => setAsked(null)}
          onConfirm={() =>
            update.mutate(
              { name, definition: asked.after, secret: asked.secret },
              {
                onSuccess: () => asked.changes.length === 0 && setSaves(saves + 1),
                onSettled: () => setAsked(null),
              },
            )
          }
          busy={update.isPending}
          title="Change this relay?"
          confirm="Save the changes"
        >
          <p>It takes effect at once, also for waiting mail.</p>
          <ul className="space-y-2">
            {asked.changes.map(({ name: field, before: was, after: is }) => (
              <li key={field}>
                <code className="font-mono text-sm">{field}</code>
                <Becomes before={was} after={is} of={factsOf(field)} />
              </li>
            ))}
            {asked.secret !== null && (
              <li>
                {isWithoutKey(asked.secret)
                  ? 'The secret of its webhooks is replaced.'
                  : 'The secret is replaced.'}
              </li>
            )}
          </ul>
        </ConfirmDialog>
      )}
    </>
  );
}

/** What a save would come to. */
function changesBy(values: Drafts, form: RelayForm, { name, definition: before }: RelayDetail) {
  const { definition, secret } = givenBy(form, values);
  const after = { ...definition, name };
  const changes = definitionChanges({ ...before, type: form.type, name }, after);
  return { after, secret, changes, isDirty: changes.length > 0 || secret !== null };
}

/** Whether the secrets that are given leave out the one that a test signs in with. */
function isWithoutKey(secret: ReturnType<typeof changesBy>['secret']): boolean {
  return secret === null || Object.keys(secret).every((field) => field === 'webhook_secret');
}

function TestCard({
  relay: { name, type, hasSecret },
  isDirty,
  after,
  secret,
}: Omit<ReturnType<typeof changesBy>, 'changes'> & { readonly relay: RelayDetail }) {
  return (
    <Card title="Test" note={isDirty ? 'As it is written here, not yet saved.' : 'As it is stored.'}>
      {isDirty && hasSecret && isWithoutKey(secret) ? (
        <p className="text-soft">
          To test unsaved changes, give the secret again: a test never uses the stored one.
        </p>
      ) : (
        <RelayTest
          key={String(isDirty)}
          name={name}
          type={type}
          unsaved={isDirty ? () => ({ definition: after, secret }) : null}
        />
      )}
    </Card>
  );
}
