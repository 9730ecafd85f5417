import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Page } from '../../parts/page.tsx';
import { Banner, Fetched } from '../../parts/states.tsx';
import { useAct, useCall } from '../../queries.ts';
import { refreshSession, useMay } from '../../session.tsx';
import { freeName, type RelayForm } from './definition.ts';
import { RelayCard, RelayIcon } from './relay-card.tsx';
import { FilledRelay, givenBy, RelayFields, RelayHelp } from './relay-fields.tsx';
import type { RelayView } from './relay-menu.tsx';
import { RelayTest } from './relay-test.tsx';

/** Relays: where mail goes from here. */
export function RelaysPage() {
  const relays = useCall('relays', {}, { topics: ['relays', 'queue'] });
  const { add } = useSearch({ from: '/relays' });
  const navigate = useNavigate({ from: '/relays' });
  const mayAdd = useMay('admin');
  const open = (type: string | null) => void navigate({ search: { add: type ?? 'choose' } });
  return (
    <Page
      title="Relays"
      note="Where mail goes from here."
      actions={mayAdd && <Button look="primary" icon={Plus} label="Add relay" onClick={() => open(null)} />}
    >
      <Fetched query={relays} lines={6} shape="cards">
        {(rows) => (
          <div className="space-y-4">
            {rows.every(({ type }) => type === 'inbox') && (
              <Banner
                title="All mail is captured"
                actions={mayAdd && <Button small label="Add a relay" onClick={() => open(null)} />}
              >
                Nothing leaves this server until there is a relay, and it is the default.
              </Banner>
            )}
            <ul data-list="" className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
              {rows.map((relay) => (
                <RelayCard key={relay.name} relay={relay} />
              ))}
            </ul>
            {mayAdd && add !== undefined && (
              <AddRelay
                type={add}
                relays={rows}
                onChoose={open}
                onClose={() => void navigate({ search: {} })}
              />
            )}
          </div>
        )}
      </Fetched>
    </Page>
  );
}

/** Adds a relay: its type is chosen, then its form filled in, tested, and stored. */
export function AddRelay({
  type,
  relays,
  onChoose,
  onClose,
}: {
  /** What the address says: a type, or any other word while none is chosen. */
  readonly type: string;
  readonly relays: readonly RelayView[];
  readonly onChoose: (type: string | null) => void;
  readonly onClose: () => void;
}) {
  const forms = useCall('relayForms', {});
  const form = forms.data?.find((each) => each.type === type);
  if (form)
    return (
      <FillIn key={form.type} form={form} relays={relays} onBack={() => onChoose(null)} onClose={onClose} />
    );
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      size="large"
      title="Add a relay"
      description="How should mail leave this server?"
    >
      <Fetched query={forms} lines={8}>
        {(all) => (
          <ul className="grid gap-2.5 sm:grid-cols-2">
            {all.map((each) => (
              <li key={each.type}>
                <button
                  type="button"
                  onClick={() => onChoose(each.type)}
                  className="flex h-full w-full items-start gap-3 rounded-lg border border-line bg-surface p-3.5 text-left hover:border-edge hover:bg-sunken"
                >
                  <RelayIcon type={each.type} />
                  <span className="min-w-0">
                    <span className="block font-semibold">{each.title}</span>
                    <span className="block text-sm text-soft">{each.summary}</span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Fetched>
    </Dialog>
  );
}

function FillIn({
  form,
  relays,
  onBack,
  onClose,
}: {
  readonly form: RelayForm;
  readonly relays: readonly RelayView[];
  readonly onBack: () => void;
  readonly onClose: () => void;
}) {
  const isFirst = relays.every((relay) => relay.type === 'inbox');
  const [makeDefault, setMakeDefault] = useState(isFirst);
  const taken = relays.map((relay) => relay.name);
  const [name] = useState(() => freeName(form.type, taken));
  const add = useAct('addRelay', {
    quiet: true,
    done: ({ name: added }) => `The relay ${added} is in use`,
    onDone: () => {
      refreshSession();
      onClose();
    },
  });
  return (
    <FilledRelay
      of={form}
      definition={{ name }}
      act={add}
      request={(given) => ({ ...given, makeDefault })}
      submit="Add relay"
      onClose={onClose}
      layout={(fields, buttons, { values }) => (
        <Dialog
          kind="drawer"
          onClose={onClose}
          size="large"
          title={form.title}
          description={form.summary}
          footer={
            <>
              <Button look="quiet" label="Another type" className="mr-auto" onClick={onBack} />
              {buttons}
            </>
          }
        >
          <div className="space-y-5">
            <RelayHelp form={form} />
            {fields}
            <div className="border-t border-line pt-4">
              <RelayTest
                name={String(values['name'] || name)}
                type={form.type}
                unsaved={() => givenBy(form, values)}
              />
            </div>
          </div>
        </Dialog>
      )}
    >
      {(hand) => (
        <>
          <RelayFields of={form} hand={hand} keepsSecret={() => false} fixedName={false} />
          <Checkbox
            label="Make it the default"
            hint={
              isFirst
                ? 'Until now all mail is captured here. With this, mail that no rule sends elsewhere leaves through this relay, at once.'
                : 'Mail that no rule sends elsewhere goes through it, at once.'
            }
            checked={makeDefault}
            onChange={setMakeDefault}
          >
            <span className="font-medium">Make it the default</span>
          </Checkbox>
        </>
      )}
    </FilledRelay>
  );
}
