// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of rubato-hints(7) that stand round the tables.
#pragma once

namespace rubato {

inline constexpr const char* kManTop = R"(.\" SPDX-License-Identifier: GPL-2.0-or-later
.\" Written by lib/hints/hints_docs from the tables in lib/hints/.
.TH rubato-hints 7 "" "Rubato" "Slurm jobs"
.nh
.SH NAME
rubato-hints \- what a job tells Rubato about itself
.SH DESCRIPTION
A training job can say at which sizes it runs, on which types of GPU, how much work it has and
whether it may be interrupted.
What it does not say is left as Slurm was asked: a job without hints keeps its size and is never
interrupted.
.PP
Rubato checks, records and shows all of it, and learns from what jobs report.
The job type says whose reports tell how fast the job will be on each type of GPU, at each size; with
that and the work to do Rubato decides when it starts, on which type, and at which of its sizes.
A job that names its
.B gpu\-types
never gets another.
A job starts at a smaller size than it asks for only if it says how much work it has, which must be
done within the time limit by a wide margin; interactive jobs and job arrays start as requested.
Batch and plan stay as submitted, and nothing is changed once a job runs.
.PP
A wrong hint refuses the submission.
Every line of the error names the word, the reason and what to write instead, and all errors come at
once; nothing is half applied.
.SH WHERE HINTS ARE WRITTEN
.TP
.B Options
.BR sbatch ,
.B salloc
and
.B srun
take an option for each hint, on the command line and as
.BR #SBATCH .
Each has a twin that takes it back,
.B \-\-no\-dl\-gpus
for
.BR \-\-dl\-gpus .
Of several on one key the last counts: the command line comes after the script.
.TP
.B Environment
A variable stands for an option that is not given:
.B RUBATO_DL_GPU_TYPES
for
.BR \-\-dl\-gpu\-types .
An empty one counts as not set.
A variable with
.B RUBATO_DL_
before any other name is an error.
.TP
.B Comment
The comment of the job says the same without the options: free text, then a blank,
.B rubato:
and pairs
.IR key = value
with semicolons between, up to the end.
.PP
.RS
.nf
\-\-comment="night run rubato: gpus=1,2,4,8; checkpoint=USR1@60; resize=restart"
.fi
.RE
.PP
What is stronger counts for each hint alone: option, environment, comment, and last the
.B JobType=
line of rubato.conf.
.PP
At submit the hints of options and environment are written into the comment, behind the text that is
there: with them it has at most 1024 characters.
From then on the comment alone counts, and
.B scontrol show job
shows it.
An update of the comment, or of the request of a pending job, is checked against the hints that hold
afterwards, and refused as a submission would be:
.B scontrol
says
.BR "Invalid argument" ,
and slurmctld's log has the errors.
.SS Grammar of the comment
.IP \(bu 2
.B rubato:
is written in lower case, at the beginning of the comment or behind a blank.
The first one counts; a second one behind it is an error.
A comment without it has no hints.
.IP \(bu 2
All before it belongs to the site and is kept byte for byte.
.IP \(bu 2
Pairs may stand in any order, each key once, in any case.
Blanks, tabs and line ends round pairs, keys, values and the parts of lists do not count; empty pairs
neither.
.IP \(bu 2
.BI no\- KEY
takes a hint back, so that a weaker layer does not set it.
.IP \(bu 2
There are no quotes and no escapes; no value can hold a semicolon.
.IP \(bu 2
Words are read in any case; names of job types and GPU types as they are written.
Large numbers may have an exponent: 7e9.
.SH HINTS
)";

inline constexpr const char* kManReference = R"(.SH THE REQUEST IS THE REFERENCE
The Slurm request of a job is valid without Rubato, and is one of its sizes.
At another size tasks, CPUs and memory scale with the GPUs from it; the time limit stays.
One task stays one: it starts its own workers, and its CPUs scale.
Nodes are free, unless
.B \-N
is fixed together with
.BR \-\-gpus\-per\-node :
then whole nodes are the unit.
They also are with GPUs counted by node and
.BR \-\-ntasks\-per\-node=1 ,
where a size below that of a node stays on one, and
.B \-N 1
stays one node.
Where nodes are free, GPUs counted by node are asked for in total, and memory by GPU.
.PP
squeue, scontrol and the accounting show the size a job runs at; requeued, it asks for what it was submitted with.
In the job,
.BR SLURM_NTASKS ,
.BR SLURM_GPUS
and their kin say the size too; a script that writes numbers itself, as in
.BR "srun \-n4" ,
must follow
.BR RUBATO_GPUS .
.PP
These start only with what they ask for, whatever their hints offer: jobs of salloc, srun and scrontab, and requests with
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
a job has no size without GPUs.
.PP
Where sizes must be multiples of a number, a range stands for the multiples in it:
.B \-\-dl\-gpus=4\-16
is 4, 8, 12 and 16 GPUs on nodes with 4.
A size that is listed, and both ends of a range, must be such a multiple.
.SS What is refused
More than one of samples, steps and target\-loss is refused, and each of these:
)";

inline constexpr const char* kManMessages = R"(.PP
A value of a
.B JobType=
line that breaks one of these is left out instead: it never refuses a job.
.SH MESSAGES
A running job speaks by an update of its own comment that begins with
.BR rubato! .
Such an update is a message and does not change the comment.
It has at most 1024 bytes:
.BI rubato! KIND\fR,
a blank, and pairs as in the hints of a comment.
Only the owner of the job, root and SlurmUser are heard.
Of an array name one task, as in 12_3.
.PP
A report that comes sooner than
.B MessageInterval=
of rubato.conf (60 seconds) after the last one of its job is dropped, and so is one while too many
messages wait: the update succeeds, so that a training loop never fails for it.
Any other message that is not heard fails its update.
Slurm 22.05 hands no words back for an update that is refused:
.B scontrol
shows one of these, and slurmctld's log has the whole error.
.RS
.TP
.B Bad message
It is not written as below, or names several tasks of an array.
.TP
.B Message too long
It has more than 1024 bytes.
.TP
.B Access/permission denied
The sender is neither owner, root nor SlurmUser.
.TP
.B Job is not running
Only a running job speaks.
.TP
.B Requested operation not supported on this system
A resize or hold\-size: in this mode a running job keeps its size.
.TP
.B Resource temporarily unavailable
Too many messages wait; for an ack, which is never dropped in silence.
.RE
.PP
)";

inline constexpr const char* kManEnd = R"(.SH JSON
As JSON hints have the schema
.BR rubato.hints/1 ,
one member for each hint that is said:
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
lists what was taken back.
.SH EXAMPLES
A job that can run on 1, 2, 4 or 8 GPUs, prefers h100 to a100, and may be restarted at another size
60 seconds after it got SIGUSR1:
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
#SBATCH \-\-dl\-checkpoint=USR1@60
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
#SBATCH \-\-comment="rubato: job\-type=resnet50; gpus=1,2,4,8; gpu\-types=h100/a100; batch=256\-1024; samples=1.28e8; checkpoint=USR1@60; resize=restart"
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
In the script, between two steps of the training:
.PP
.RS
.nf
scontrol update JobId=$SLURM_JOB_ID Comment="rubato!report samples=1.28e6;rate=850.5;batch=256"
.fi
.RE
.SH WRONG HINTS AND THEIR ERRORS
One example of each.
.BR sbatch ,
.B salloc
and
.B srun
print the error and submit nothing.
Hints that were written as options are named as options:
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
