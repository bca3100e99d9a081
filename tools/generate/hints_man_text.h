// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of rubato-hints(7) that are not made from the tables.
#pragma once

namespace rubato {

inline constexpr const char* kManTop = R"(.\" SPDX-License-Identifier: GPL-2.0-or-later
.\" Written by tools/generate/hints_docs from the tables in lib/hints/.
.TH rubato-hints 7 "" "Rubato" "Slurm jobs"
.nh
.SH NAME
rubato-hints \- hints of a job for Rubato
.SH DESCRIPTION
The hints of a training job give its possible sizes, GPU types and total work, and whether it may be
interrupted.
Without a hint the Slurm request holds: a job without hints keeps its size and is never interrupted.
.PP
Rubato checks, records and shows all hints, and learns from the reports of jobs.
Jobs of one job type share their reports, which tell Rubato how fast they run on each GPU type at
each size.
With these and the total work Rubato decides when a job starts, on which GPU type, and at which size.
A job with
.B gpu\-types
gets no other type.
A job starts at a smaller size than requested only if its total work is known and takes much less time
there than the time limit, and no longer than the wait for the requested size and twice the run at that.
Interactive jobs and job arrays start as requested.
Where the hints leave a choice, Rubato chooses plan and batch at the start; until the speeds of the job type are known
it runs with those of its script.
If gradient noise was reported, a batch below the usual one of the type is chosen only for a job whose total work is
known, or that mode elastic can change later.
Rubato changes a running job on request, and by itself in mode elastic
.RB ( rubato\-resize (1)).
.PP
A wrong hint refuses the submission.
The error has one line per mistake, with the word, the reason and what to write instead.
Either all hints of a job are applied or none.
.SH HOW TO WRITE HINTS
.TP
.B Options
.BR sbatch ,
.B salloc
and
.B srun
have an option for each hint, on the command line and as
.BR #SBATCH .
Another option unsets it,
.B \-\-no\-dl\-gpus
for
.BR \-\-dl\-gpus .
The last option for a hint counts; the command line comes after the script.
.TP
.B Environment
A variable replaces an option that is not given:
.B RUBATO_DL_GPU_TYPES
for
.BR \-\-dl\-gpu\-types .
An empty one counts as not set.
A variable with
.B RUBATO_DL_
before any other name is an error.
.TP
.B Comment
The comment of the job has the same hints: free text, then a blank,
.B rubato:
and pairs
.IR key = value
separated by semicolons, up to the end.
.PP
.RS
.nf
\-\-comment="night run rubato: gpus=1,2,4,8; checkpoint=B:USR1@60; resize=restart"
.fi
.RE
.PP
Each hint comes from the first of option, environment, comment, and the
.B JobType=
line of rubato.conf.
.PP
At submit Rubato adds the hints of options and environment to the end of the comment, which then has
at most 1024 characters.
After that only the comment counts, and
.B scontrol show job
shows it.
Rubato also checks updates of the comment or the request of a pending job.
A wrong update is refused:
.B scontrol
says
.BR "Invalid argument" ,
and slurmctld's log has the errors.
.SS Grammar of the comment
.IP \(bu 2
.B rubato:
must be in lower case, at the beginning of the comment or after a blank.
The first one counts; a second one is an error.
A comment without it has no hints.
.IP \(bu 2
The text before it belongs to the site and is kept byte for byte.
.IP \(bu 2
Pairs may be in any order, with each key once.
The case of keys does not matter.
Blanks, tabs and line ends around pairs, keys, values and list items, and empty pairs, are ignored.
.IP \(bu 2
.BI no\- KEY
unsets a hint, so that nothing weaker sets it.
.IP \(bu 2
There are no quotes and no escapes; a value cannot contain a semicolon.
.IP \(bu 2
The case of words does not matter, except in names of job types and GPU types.
Large numbers may have an exponent: 7e9.
.SH HINTS
)";

inline constexpr const char* kManReference = R"(.SH SIZES
The Slurm request of a job is valid without Rubato, and is one of its sizes.
At another size, tasks, CPUs and memory scale with the GPUs; the time limit stays.
A single task stays single: it starts its own workers, and its CPUs scale.
The number of nodes is free, unless
.B \-N
is fixed together with
.BR \-\-gpus\-per\-node :
then the job gets whole nodes.
It also gets whole nodes with GPUs per node and
.BR \-\-ntasks\-per\-node=1 ,
but a size below that of a node stays on one node, and
.B \-N 1
stays one node.
If the number of nodes is free, GPUs per node become total GPUs, and memory is requested per GPU.
.PP
squeue, scontrol and the accounting show the size at which a job runs.
A requeued job has its original request again.
In the job,
.BR SLURM_NTASKS ,
.B SLURM_GPUS
and similar variables also have this size.
A script with fixed numbers, as in
.BR "srun \-n4" ,
must use
.B RUBATO_GPUS
instead.
.PP
These always start as requested, also with hints: jobs of salloc, srun and scrontab, and requests with
.BR \-\-exclusive ,
.BR \-\-nodelist ,
.BR \-\-distribution=arbitrary ,
.BR \-\-gpus\-per\-socket ,
.B \-\-ntasks\-per\-socket
or
.BR \-\-ntasks\-per\-gpu .
With
.B \-\-cpus\-per\-gpu
or
.B \-\-mem\-per\-gpu
a job cannot run without GPUs.
.PP
If sizes must be multiples of a number, a range means the multiples in it:
.B \-\-dl\-gpus=4\-16
is 4, 8, 12 and 16 GPUs on nodes with 4.
Each listed size and both ends of each range must be such multiples.
.SS Refused combinations
More than one of samples, steps and target\-loss is refused, and also:
)";

inline constexpr const char* kManMessages = R"(.PP
A value of a
.B JobType=
line that breaks one of these rules is ignored instead: it never refuses a job.
.SH MESSAGES
A running job sends a message by an update of its own comment that begins with
.BR rubato! .
Such an update does not change the comment.
It has at most 1024 bytes:
.BI rubato! KIND\fR,
a blank, and pairs as in the hints of a comment.
Only the owner of the job, root and SlurmUser may send messages.
For a job array, name one task, as in 12_3.
The update should also ask for the partition
.BR rubato! ,
which Rubato removes from it.
slurmctld without Rubato refuses such an update, so the message cannot replace the comment.
.PP
A report is dropped if it comes sooner than
.B MessageInterval=
of rubato.conf (60 seconds) after the last one of its job, or if too many messages wait.
Its update still succeeds, so that a training loop never fails because of it.
Any other message that is not accepted fails its update.
From Slurm 24.11 on
.B scontrol
prints the reason of a refusal.
Slurm 22.05 returns no text for a refused update:
.B scontrol
shows one of these errors, and slurmctld's log has the whole text.
.RS
.TP
.B Bad message
It does not have the form below, or names several tasks of an array.
.TP
.B Message too long
The message has more than 1024 bytes.
.TP
.B Access/permission denied
The sender is not the owner, root or SlurmUser; for resize and hold\-size, nor an operator or coordinator of the account.
.TP
.B Job is not running
Only a running job can send messages.
.TP
.B Job is current suspended, requested operation disabled
So says Slurm of a suspended job.
.TP
.B Requested operation not supported on this system
Rubato acts on neither resize nor hold\-size in mode observe.
.TP
.B Resource temporarily unavailable
Too many messages wait. An ack is refused and not dropped.
.RE
.PP
)";

inline constexpr const char* kManEnd = R"(.SH JSON
Hints as JSON have the schema
.BR rubato.hints/1 ,
with one member for each hint that is set:
.BR job_type ,
.B gpus
(a list of
.B from
and
.BR to ),
.B gpu_types
(lists of equal types, best first),
.B batch
.RB ( min ,
.BR max ),
.B work
.RB ( samples ,
.B steps
or
.BR target_loss ),
.BR model ,
.B plans
(a list, or auto),
.B checkpoint
.RB ( signal ,
.BR seconds ,
.BR batch_shell ,
.BR reservation ;
or none),
.BR resize ,
.BR device ,
.BR mix_types ;
.B unset
lists the hints that were unset.
.SH EXAMPLES
A job that can run on 1, 2, 4 or 8 GPUs, prefers h100 to a100, and may be restarted at another size
60 seconds after it receives SIGUSR1:
.PP
.RS
.nf
#SBATCH \-\-gpus=4
#SBATCH \-\-requeue
#SBATCH \-\-dl\-job\-type=resnet50
#SBATCH \-\-dl\-gpus=1,2,4,8
#SBATCH \-\-dl\-gpu\-types=h100/a100
#SBATCH \-\-dl\-batch=256\-1024
#SBATCH \-\-dl\-samples=1.28e8
#SBATCH \-\-dl\-checkpoint=B:USR1@60
#SBATCH \-\-dl\-resize=restart
.fi
.RE
.PP
The same in a comment:
.PP
.RS
.nf
#SBATCH \-\-gpus=4
#SBATCH \-\-requeue
#SBATCH \-\-comment="rubato: job\-type=resnet50; gpus=1,2,4,8; gpu\-types=h100/a100; batch=256\-1024; samples=1.28e8; checkpoint=B:USR1@60; resize=restart"
.fi
.RE
.PP
A transformer on whole nodes, with any execution plan that fits:
.PP
.RS
.nf
#SBATCH \-N 2 \-\-gpus\-per\-node=4
#SBATCH \-\-dl\-gpus=4\-32
#SBATCH \-\-dl\-model=params=7e9,hidden=4096,layers=32,seq=2048,heads=32
#SBATCH \-\-dl\-plans=auto
.fi
.RE
.PP
A report, sent by the job script between two training steps:
.PP
.RS
.nf
scontrol update JobId=$SLURM_JOB_ID Partition=rubato! Comment="rubato!report samples=1.28e6;rate=850.5;batch=256"
.fi
.RE
.SH WRONG HINTS
Examples with their errors.
.BR sbatch ,
.B salloc
and
.B srun
print the error and submit nothing.
Errors name hints that were given as options by the option:
.B \-\-dl\-gpus
for
.BR gpus .
)";

inline constexpr const char* kManSeeAlso = R"(.SH SEE ALSO
.BR sbatch (1),
.BR rubato.conf (5),
.BR rubato_plugins (8),
.BR rubato\-spank (8)
)";

}  // namespace rubato
