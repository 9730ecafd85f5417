import { useNavigate } from '@tanstack/react-router';
import { Copy, MoreHorizontal, Send, Trash2, Undo2, Upload } from 'lucide-react';
import { useState } from 'react';
import { ask } from '../../parts/ask.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { NewTemplateDialog } from '../templates/new-template-dialog.tsx';
import type { Template } from './draft.ts';
import { type TemplateInHand, useShowTemplate } from './in-hand.ts';
import { TestDialog } from './test-dialog.tsx';

/** What can be done with the template as it is saved. */
export function Acts({ template, hand }: { readonly template: Template; readonly hand: TemplateInHand }) {
  const { isDirty } = hand;
  const { alias, version, publishedVersion } = template;
  const mayWrite = useMay('operator');
  const navigate = useNavigate();
  const templates = useCall('templates', {}, { topics: ['templates'] });
  const [open, setOpen] = useState<'test' | 'copy' | null>(null);
  const publish = usePublish(template);
  const close = () => setOpen(null);
  if (!mayWrite) return null;
  return (
    <>
      <Button icon={Send} label="Send a test" onClick={() => setOpen('test')} />
      {version !== publishedVersion && (
        <Button
          look={isDirty ? 'plain' : 'primary'}
          icon={Upload}
          label={`Publish version ${version}`}
          disabled={isDirty}
          title={isDirty ? 'Save or discard your changes first.' : undefined}
          onClick={() => publish(version)}
        />
      )}
      <Menu trigger={<IconButton icon={MoreHorizontal} label="What else to do with the template" />}>
        <MenuItem icon={Copy} label="Duplicate" onSelect={() => setOpen('copy')} />
        {publishedVersion !== null && (
          <MenuItem icon={Undo2} label="Unpublish" onSelect={() => publish(null)} />
        )}
        <MenuLine />
        <MenuItem
          icon={Trash2}
          danger
          label="Delete"
          onSelect={() =>
            askToDelete(template, () => void navigate({ to: '/templates', ignoreBlocker: true }))
          }
        />
      </Menu>
      {open === 'test' && <TestDialog template={template} hand={hand} onClose={close} />}
      {open === 'copy' && (
        <NewTemplateDialog
          copy={template}
          taken={templates.data?.map((other) => other.alias) ?? [alias]}
          onClose={close}
          onAdded={(added) => void navigate({ to: '/templates/$alias', params: { alias: added } })}
        />
      )}
    </>
  );
}

/** Asks before another version is sent, or none. */
export function usePublish({ alias, publishedVersion }: Template): (version: number | null) => void {
  const show = useShowTemplate();
  return (version) => {
    const instead = publishedVersion === null ? '' : `, in place of version ${publishedVersion}`;
    ask('publishTemplate', {
      request: { alias, version },
      done: version === null ? 'The template is no longer published' : `Version ${version} is published`,
      onDone: show,
      title: version === null ? 'Unpublish the template?' : `Publish version ${version}?`,
      text:
        version === null
          ? 'Messages with this template are refused until a version is published again. Nothing is deleted.'
          : `From now on, messages with this template are made from version ${version}${instead}. Messages accepted before stay as they are.`,
      confirm: version === null ? 'Unpublish' : 'Publish',
      danger: version === null,
    });
  };
}

function askToDelete({ alias, versions }: Template, onDone: () => void): void {
  ask('deleteTemplate', {
    request: { alias },
    done: 'The template is deleted',
    onDone,
    title: 'Delete the template?',
    text: (
      <p>
        <strong className="font-semibold break-all">{alias}</strong> is deleted with all of its{' '}
        {versions.length === 1 ? 'one version' : `${versions.length} versions`}, for good. Messages with it
        are refused from then on; those that were accepted stay as they are.
      </p>
    ),
    confirm: 'Delete template',
    danger: true,
    typed: alias,
  });
}
