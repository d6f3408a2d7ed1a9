# SPDX-License-Identifier: MIT
# A Slurm of one node, on the loopback interface, with a key, sockets and state of its own.  Debian:
# slurm-wlm, munge.  To be sourced.
#
#	cluster_start DIRECTORY  start it there (an absolute path); status 1 when it can't be, and
#	                         $cluster_problem says why
#	cluster_stop             end what was started

PATH=$PATH:/usr/sbin:/sbin
cluster_pids=

cluster_stop()
{
	# shellcheck disable=SC2086
	[ -z "$cluster_pids" ] || kill $cluster_pids 2>/dev/null
	# slurmd waits for what it started.
	for cluster_pid in $cluster_pids; do wait "$cluster_pid" 2>/dev/null; done
	cluster_pids=
}

# Until COMMAND… succeeds, for so many tenths of a second.
cluster_wait()
{
	cluster_tries=$1
	shift
	until "$@"; do
		[ "$cluster_tries" -gt 0 ] || return 1
		cluster_tries=$((cluster_tries - 1))
		sleep 0.1
	done
}

cluster_idle() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }

cluster_start()
{
	cluster=$1
	for cluster_program in munged slurmctld slurmd sbatch squeue scancel; do
		command -v "$cluster_program" >/dev/null || {
			cluster_problem="there is no $cluster_program"
			return 1
		}
	done
	# Ports that nobody else is likely to have.
	cluster_port=$((20000 + $$ % 20000))
	cluster_host=$(hostname -s)
	cluster_user=$(id -un)
	mkdir "$cluster/state" "$cluster/spool"
	dd if=/dev/urandom of="$cluster/key" bs=1 count=1024 2>/dev/null
	chmod 400 "$cluster/key"
	cat >"$cluster/slurm.conf" <<END
ClusterName=refault
SlurmctldHost=$cluster_host(127.0.0.1)
SlurmUser=$cluster_user
SlurmdUser=$cluster_user
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.sock
CredType=cred/munge
SlurmctldPort=$cluster_port
SlurmdPort=$((cluster_port + 1))
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
NodeName=$cluster_host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=$cluster_host Default=YES MaxTime=INFINITE State=UP
END
	SLURM_CONF=$cluster/slurm.conf
	export SLURM_CONF
	munged --foreground --force --socket="$cluster/munge.sock" --key-file="$cluster/key" \
		--pid-file="$cluster/munged.pid" --log-file="$cluster/munged.log" \
		--seed-file="$cluster/munge.seed" >"$cluster/munged.out" 2>&1 &
	cluster_pids=$!
	cluster_wait 50 [ -S "$cluster/munge.sock" ] || {
		cluster_problem="munged does not start: $(tail -n 1 "$cluster/munged.out")"
		return 1
	}
	slurmctld -D >"$cluster/slurmctld.out" 2>&1 &
	cluster_pids="$cluster_pids $!"
	slurmd -D >"$cluster/slurmd.out" 2>&1 &
	cluster_pids="$cluster_pids $!"
	cluster_wait 200 cluster_idle || {
		cluster_problem="slurmctld and slurmd do not start: $(tail -n 1 "$cluster/slurmd.log" 2>/dev/null)"
		return 1
	}
}
