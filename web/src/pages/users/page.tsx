import { UserPlus } from 'lucide-react';
import { useCallback, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { Fetched, Forbidden } from '../../parts/states.tsx';
import { PageTabs } from '../../parts/tabs.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { type SessionRow, SessionsTable } from '../account/sessions-table.tsx';
import { AddUser } from './user-dialogs.tsx';
import { UsersTable } from './users-table.tsx';

/** Who uses the dashboard, and where they are signed in. */
export function UsersPage() {
  const isAdmin = useMay('admin');
  if (isAdmin) return <UsersForAdmins />;
  return (
    <Page title="Users">
      <Forbidden who="administrators" />
    </Page>
  );
}

function UsersForAdmins() {
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title="Users"
      note="Who may use this dashboard, and what each may do."
      actions={<Button look="primary" icon={UserPlus} label="Add user" onClick={() => setAdding(true)} />}
    >
      <PageTabs
        label="About users"
        tabs={[
          { value: 'users', label: 'Users', content: <Users /> },
          { value: 'sessions', label: 'Sessions', content: <Sessions /> },
        ]}
      />
      {adding && <AddUser onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Users() {
  const users = useCall('users', {}, { topics: ['users'] });
  return (
    <Card flush>
      <Fetched query={users}>{(rows) => <UsersTable users={rows} />}</Fetched>
    </Card>
  );
}

function Sessions() {
  const sessions = useCall('sessions', { name: null }, { topics: ['users'] });
  const { mutate } = useAct('endSession', { done: 'The session has ended' });
  const onEnd = useCallback(({ id }: SessionRow) => mutate({ id }), [mutate]);
  return (
    <Card flush>
      <Fetched query={sessions}>
        {(rows) => <SessionsTable sessions={rows} withNames onEnd={onEnd} />}
      </Fetched>
    </Card>
  );
}
