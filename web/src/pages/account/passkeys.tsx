import { useQuery } from '@tanstack/react-query';
import { Fingerprint, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { actsColumn, type Column, codeColumn, DataTable, timeColumn } from '../../parts/data-table.tsx';
import { Form } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { addPasskey, canHavePasskeys } from '../../passkeys.ts';
import { useDoing } from '../../queries.ts';
import { setSession, useSession, useSessionAct } from '../../session.tsx';
import { HiddenUserName, PasswordField } from '../sign-in/new-password.tsx';
import { PasswordDialog } from './second-factor.tsx';
import { agentWords } from './sessions-table.tsx';

type PasskeyRow = SessionCalls['passkeys']['answer'][number];

const NOT_HERE =
  'Passkeys work only where this page is opened by a host name, in a browser that has them. To add one, open it by its name.';

/** One's own passkeys: which there are, how to add one and how to remove it. */
export function PasskeysCard() {
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<PasskeyRow | null>(null);
  const passkeys = useQuery<readonly PasskeyRow[], ApiError>({
    queryKey: ['own-passkeys'],
    queryFn: () => sessionCall('passkeys', {}),
    meta: { topics: ['users'] },
  });
  const isPossible = canHavePasskeys();
  return (
    <Card
      title="Passkeys"
      flush
      actions={
        isPossible && (
          <Button small icon={Fingerprint} label="Add a passkey" onClick={() => setAdding(true)} />
        )
      }
    >
      <Fetched query={passkeys} lines={2}>
        {(rows) => (
          <>
            <DataTable
              label="Passkeys"
              columns={columnsOf(setRemoved)}
              rows={rows}
              rowId={({ id }) => id}
              empty={
                <EmptyState icon={Fingerprint} title="You have no passkey">
                  {isPossible
                    ? 'With a passkey you sign in by fingerprint, face or PIN, without password and code. Nothing can be stolen from the server or typed into a wrong page.'
                    : NOT_HERE}
                </EmptyState>
              }
            />
            {!isPossible && rows.length > 0 && (
              <p className="border-t border-line px-4 py-3 text-sm text-soft">{NOT_HERE}</p>
            )}
          </>
        )}
      </Fetched>
      {adding && <AddPasskey onClose={() => setAdding(false)} />}
      {removed && <RemovePasskey passkey={removed} onClose={() => setRemoved(null)} />}
    </Card>
  );
}

function columnsOf(remove: (passkey: PasskeyRow) => void): readonly Column<PasskeyRow>[] {
  return [
    {
      header: 'Passkey',
      width: 'minmax(0, 1.5fr)',
      cell: ({ label }) => (
        <span className="block truncate font-medium" title={label}>
          {label}
        </span>
      ),
    },
    codeColumn({ header: 'For' }, ({ host }) => host),
    timeColumn({ header: 'Last used', width: '6.5rem' }, ({ lastUsedAt }) => lastUsedAt, 'never'),
    timeColumn({ header: 'Since', width: '6rem' }, ({ createdAt }) => createdAt),
    actsColumn('2.25rem', (passkey) => (
      <IconButton
        icon={Trash2}
        small
        label={`Remove the passkey ${passkey.label}`}
        onClick={() => remove(passkey)}
      />
    )),
  ];
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const { user } = useSession();
  const add = useDoing(addPasskey, {
    quiet: true,
    done: 'The passkey is added',
    onDone: (view) => {
      setSession(view);
      onClose();
    },
  });
  return (
    <Form
      sheet={{
        title: 'Add a passkey',
        size: 'small',
        description: `It signs in to ${location.hostname}, and nowhere else. Your browser asks where to keep it.`,
      }}
      act={add}
      initial={{ label: agentWords(navigator.userAgent), password: '' }}
      request={({ label, password }) => ({ label: label.trim(), password })}
      check={({ label }) => ({ label: label.trim() === '' ? 'Give it a name.' : null })}
      submit="Go on"
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <HiddenUserName name={user.name} />
          <TextField
            label="Name"
            hint="By which you will know it, such as the device that keeps it."
            autoComplete="off"
            required
            maxLength={60}
            {...field('label')}
          />
          <PasswordField label="Your password" {...field('password')} />
        </>
      )}
    </Form>
  );
}

function RemovePasskey({
  passkey: { id, label },
  onClose,
}: {
  readonly passkey: PasskeyRow;
  readonly onClose: () => void;
}) {
  const remove = useSessionAct('passkey_remove', {
    quiet: true,
    done: 'The passkey is removed',
    onDone: (view) => {
      setSession(view);
      onClose();
    },
  });
  return (
    <PasswordDialog
      title={`Remove ${label}?`}
      confirm="Remove passkey"
      danger
      act={remove}
      request={({ password }) => ({ id, password })}
      onClose={onClose}
    >
      It no longer signs you in. Your device may still offer it; delete it there, too. Where it has signed you
      in already, you stay signed in: end those sessions below.
    </PasswordDialog>
  );
}
