import { Link2Off } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { ask } from '../../parts/ask.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Select } from '../../parts/choice.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { Banner } from '../../parts/states.tsx';
import { Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import type { Story } from './story.ts';

type NewLink = ResultOf<'makeStoryLink'>;

/** Hours that a link lasts. */
const HOURS = [
  { value: '1', label: 'An hour' },
  { value: '24', label: 'A day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
] as const;

/** Makes a link that shows a message's story without signing in. */
export function ShareStory({
  message: { id, bcc },
  onClose,
}: {
  readonly message: Pick<Story['record'], 'id' | 'bcc'>;
  readonly onClose: () => void;
}) {
  const [link, setLink] = useState<NewLink | null>(null);
  if (link !== null) return <NewLinkDialog link={link} onClose={onClose} />;
  return (
    <ActionForm
      sheet={{
        title: 'Share the story by a link',
        description:
          'Whoever has the link sees, without signing in, what became of each recipient, when, and what was replied.',
        size: 'small',
      }}
      operation="makeStoryLink"
      initial={{ hours: '168' as (typeof HOURS)[number]['value'], content: false }}
      request={({ hours, content }) => ({ id, hours: Number(hours), content })}
      onDone={setLink}
      submit="Make a link"
      onClose={onClose}
    >
      {({ field, values, put }) => (
        <>
          {bcc.length > 0 && <Banner>{bccWords(bcc.length)}</Banner>}
          <Select label="It ends after" choices={HOURS} {...field('hours')} />
          <Checkbox
            label="Show subject and content"
            hint="Without this they stay here. Attachments are named, and cannot be downloaded."
            checked={values.content}
            onChange={(content) => put({ content })}
          >
            <span className="font-medium">Show subject and content</span>
          </Checkbox>
        </>
      )}
    </ActionForm>
  );
}

function bccWords(count: number): string {
  return count === 1
    ? 'One recipient is in Bcc. Whoever has the link sees that address, too.'
    : `${count} recipients are in Bcc. Whoever has the link sees their addresses, too.`;
}

function NewLinkDialog({
  link: { url, path, expiresAt, content },
  onClose,
}: {
  readonly link: NewLink;
  readonly onClose: () => void;
}) {
  return (
    <SecretDialog
      title="The link is made"
      secret={url ?? `${window.location.origin}${path}`}
      label="link"
      onClose={onClose}
    >
      <p className="text-soft">
        Whoever has it sees the story{content ? ', subject and content' : ', without subject and content'},
        addresses included, until <Time at={expiresAt} ahead />. The message’s page lists it, and ends it
        sooner.
      </p>
    </SecretDialog>
  );
}

/** The links by which others see the story; nothing where there are none. */
export function StoryLinks({ id }: { readonly id: string }) {
  const links = useCall('storyLinks', { id }, { topics: ['messages'] });
  const isOperator = useMay('operator');
  if (links.data === undefined || links.data.length === 0) return null;
  return (
    <Card title="Shared by links" flush>
      <ul className="divide-y divide-line">
        {links.data.map(({ id: link, madeBy, content, expiresAt }) => (
          <li key={link} className="flex items-center gap-2 py-2 pr-2 pl-4">
            <div className="min-w-0 flex-1">
              <div className="break-words">
                {content ? 'Story and content' : 'Story alone'}
                {madeBy === '' ? ', made at the command line' : `, made by ${madeBy}`}
              </div>
              <div className="text-sm text-soft">
                Ends <Time at={expiresAt} ahead />
              </div>
            </div>
            {isOperator && (
              <IconButton icon={Link2Off} label="End this link" small onClick={() => askToEnd(link)} />
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function askToEnd(id: string): void {
  ask('endStoryLink', {
    request: { id },
    done: 'The link shows nothing any more.',
    title: 'End the link?',
    text: 'Whoever opens it from now on is told that it has ended.',
    confirm: 'End the link',
    danger: true,
  });
}
