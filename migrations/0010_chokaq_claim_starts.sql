-- The claim can start what it takes: for jobs that are run at once there is one write and one commit where
-- there were two. What it takes, and in which order, is as before.

-- A start within a claim leads from Pending to Processing.
create or replace trigger tr_jobs_hot_move after update of state on chokaq.jobs_hot
  for each row
  when (
    old.state <> new.state
    and (old.state, new.state) not in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0))
  )
  execute function chokaq.refuse_move();

-- A program of before calls it with three arguments, and starts by itself.
drop function chokaq.fetch_jobs(text, integer, text[]);

-- Claims up to p_limit due jobs for p_owner: by priority, then the longest due, then id.
--
-- MaxWorkers is never exceeded: the rows of limited queues are locked first, and a later statement of
-- this function counts who is at work. In READ COMMITTED each statement of a volatile function sees
-- what has committed before it began, so the count sees whatever another claim of that queue has taken
-- before it let go of the lock. In one plain statement the lock and the count would share a snapshot
-- from before the lock. A queue whose lock another claim holds just now is left to that one.
-- Being one statement for the client, no frozen client can keep the locks.
--
-- The planner is held to the indexes: what it knows of the table is from another moment, and a plan made
-- while the table was empty would read all of a backlog of 20,000. So there is one plan for each
-- statement, whatever the numbers in it, and making it anew with each claim would cost half of the claim.
--
-- From the highest priority down, as far as there is still a place: a claim looks at one entry for each
-- queue with jobs of a priority, the longest due one, and then takes from those on. What lies below costs
-- it nothing, nor do future jobs, paused queues and full ones beyond that one entry each. What lies in
-- front of that entry are the dead entries of jobs claimed before, thousands where a backlog is worked off
-- between two vacuums: they are walked over once. A job that comes back to the front in that very moment
-- is the next claim's. Where several queues have jobs of one priority, more rows may be locked than are
-- taken; they are free again when this statement ends.
--
-- With p_start it starts them too: an attempt is burnt, the heartbeat begins, and the commit is on disk
-- before any handler runs. Without, its commit is not waited for until it is on disk. A claim that a crash
-- of the server undoes is one that was never made: the start of each job is on disk before its handler
-- runs, and with it all that came before it, while a start without its claim is refused.
create function chokaq.fetch_jobs(
  p_owner text, p_limit integer, p_queues text[], p_start boolean default false
)
returns setof chokaq.jobs_hot
language plpgsql volatile
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now      timestamptz := clock_timestamp();
  v_wanted   integer := p_limit;
  v_taken    integer;
  v_priority smallint := 32767;
  -- The longest due job of the first queue of this priority, and then those of all its queues.
  v_queue    text collate "C";
  v_due_at   timestamptz;
  v_id       text collate "C";
  v_queues   text[];
  v_dues     timestamptz[];
  v_ids      text[];
  -- By name: paused, full, or another claim's just now. Not looked at again by this claim.
  v_shut     jsonb;
  v_capped   text[];
  v_locked   text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'chokaq.fetch_jobs needs the isolation level read committed, not %',
        current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state',
        hint = 'Call it in a transaction that begins with isolation level read committed.';
  end if;
  if not p_start then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  select coalesce(jsonb_object_agg(q.name, true) filter (where q.paused), '{}'),
    coalesce(array_agg(q.name) filter (where q.max_workers is not null and not q.paused), '{}')
  into v_shut, v_capped from chokaq.queues q;

  loop
    select j.priority, j.queue, j.scheduled_at, j.id into v_priority, v_queue, v_due_at, v_id
    from chokaq.jobs_hot j
    where j.owner is null and j.priority < v_priority
    order by j.priority desc, j.queue, j.scheduled_at, j.id limit 1;
    exit when not found;

    with recursive longest_due (queue, scheduled_at, id) as (
      select v_queue, v_due_at, v_id
      union all
      select n.queue, n.scheduled_at, n.id from longest_due l cross join lateral (
        select j.queue, j.scheduled_at, j.id from chokaq.jobs_hot j
        where j.owner is null and j.priority = v_priority and j.queue > l.queue
        order by j.queue, j.scheduled_at, j.id limit 1
      ) n
    )
    select array_agg(l.queue), array_agg(l.scheduled_at), array_agg(l.id)
    into v_queues, v_dues, v_ids from longest_due l
    where l.scheduled_at <= v_now and not v_shut ? l.queue
      and (p_queues is null or l.queue = any (p_queues));
    continue when v_queues is null;

    v_locked := '{}';
    if v_queues && v_capped then
      select coalesce(array_agg(l.name), '{}') into v_locked from (
        select q.name from chokaq.queues q
        where q.name = any (v_queues) and q.max_workers is not null and not q.paused
          and q.max_workers > (
            select count(*) from chokaq.jobs_hot a where a.owner is not null and a.queue = q.name
          )
        order by q.name
        for no key update skip locked
      ) l;
      v_shut := v_shut || (
        select coalesce(jsonb_object_agg(name, true), '{}') from unnest(v_queues) as u (name)
        where name = any (v_capped) and name <> all (v_locked)
      );
    end if;

    return query
    with room as (
      select u.queue, u.due_at, u.id, case
          when q.max_workers is null then v_wanted
          else q.max_workers - (
            select count(*)::integer from chokaq.jobs_hot a
            where a.owner is not null and a.queue = u.queue
          )
        end as places
      from unnest(v_queues, v_dues, v_ids) as u (queue, due_at, id)
      left join chokaq.queues q on q.name = u.queue
      where not coalesce(q.paused, false)
        and (q.max_workers is null or q.name = any (v_locked))
    ),
    picked as materialized (
      select c.id from room r cross join lateral (
        select j.id, j.scheduled_at from chokaq.jobs_hot j
        where j.owner is null and j.queue = r.queue and j.priority = v_priority
          and (j.scheduled_at, j.id) >= (r.due_at, r.id) and j.scheduled_at <= v_now
        order by j.scheduled_at, j.id
        limit greatest(0, least(r.places, v_wanted))
        for no key update skip locked
      ) c
      order by c.scheduled_at, c.id
      limit v_wanted
    )
    update chokaq.jobs_hot h
    set state = case when p_start then 2 else 1 end, owner = p_owner,
      token = nextval('chokaq.lease_tokens'), heartbeat_at = clock_timestamp(),
      attempts = h.attempts + case when p_start then 1 else 0 end,
      started_at = case when p_start then clock_timestamp() else h.started_at end
    from picked where h.id = picked.id
    returning h.*;

    get diagnostics v_taken = row_count;
    v_wanted := v_wanted - v_taken;
    exit when v_wanted <= 0;
  end loop;
end
$$;
