/* A user's own training program in Python: calls of transformers, TRL, PEFT, Accelerate
 * and Unsloth, gathered as the Trainer's and TRL's words, whose rows read them.
 *
 * Files of this folder:
 *     user_script_rows     rows: which part a call is of, its arguments by names of options
 *     user_script_choose   which calls make the training
 *     user_script_calls    their arguments, gathered
 *     user_script_word     one argument, one word of those
 *     user_script_start    the program that a command or an estimator starts
 *     user_script_left     arguments that are not read, by name
 *     user_script_model    a model that the text makes of a configuration
 *     user_script_modules, user_script_sizes, user_script_stack
 *                          a stack of layers that the text builds of its own modules
 *     user_script_edits    what a text changes of a model that it loads
 *     user_script_pictures models of timm and torchvision, by name
 *     user_script_text     models with pictures, of which the language model is loaded
 *     user_script_assigned arguments that a trainer's class or a callback changes
 *     user_script_keras    programs of TensorFlow's
 *     user_script_engine   DeepSpeed's engine in such a loop
 *     user_script_loop     a loop of the text's own: PyTorch's calls, Accelerate's plugins
 *     user_script_accumulation how many microbatches a step of such a loop has
 *     user_script_loader   which of a loop's data loaders is the training's
 *     user_script_mesh     meshes of devices: hybrid shards, layers that a text divides
 *     user_script_gradients how a loop's gradients are summed: DDP, hooks, Horovod
 *     user_script_lightning Lightning's trainer: devices, strategy, precision
 *     user_script_optimizer a loop's optimizer
 *     user_script_named    optimizers that a text makes, by their names alone
 *     user_script_averages averages of the weights that a loop keeps
 *     user_script_kernels  formats, attention and what else other calls switch
 *     user_script_unsloth  Unsloth's loader, adapters and trainer: their defaults
 *     user_script_own      options of the program's own that decide what is simulated
 *     user_script_unknown  a command whose options no dialect has
 *     user_script_document its document: what values of its sections are usually called
 *     user_script_cli      documents of LightningCLI
 *     user_script_plain    a loop of PyTorch alone, whose model is the text's own
 *     user_script_propose  a model of such a loop's sizes, to answer with
 *     user_script_frozen   parameters that the text switches off
 *     user_script_lengths  how long sequences are, where no argument says it
 *     user_script_lengths_named likewise, by numbers of usual names
 *     user_script_joined   texts that are joined or cut after they are tokenised
 *     user_script_usual    numbers by their usual names
 *     user_script_starters calls that start processes on GPUs and nodes; nn.DataParallel
 *     user_script_remote   functions that SageMaker's SDK runs; models that are copied
 *     user_script          what all of it says of a training
 *     user_script_file     the dialect: a script or a notebook that trains by itself
 *
 * A new call is a row of `functions` and rows of `words` in user_script_rows.c. */
#ifndef DIALECT_USER_SCRIPT_USER_SCRIPT_H
#define DIALECT_USER_SCRIPT_USER_SCRIPT_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"
#include "dialect/python/python.h"

/* What a call is for. */
enum user_script_part {
    SCRIPT_ARGUMENTS,     /* TrainingArguments(...), SFTConfig(...) */
    SCRIPT_TRAINER,       /* Trainer(...), SFTTrainer(...) */
    SCRIPT_MODEL,         /* AutoModelForCausalLM.from_pretrained(...) */
    SCRIPT_ADAPTERS,      /* LoraConfig(...) */
    SCRIPT_QUANTISATION,  /* BitsAndBytesConfig(...) */
    SCRIPT_PREPARED,      /* prepare_model_for_kbit_training(...) */
    SCRIPT_CHECKPOINTED,  /* gradient_checkpointing_enable() */
    SCRIPT_ACCELERATOR,   /* Accelerator(...) */
    SCRIPT_STARTED,       /* notebook_launcher(...), CustomTrainer(func=...) */
    SCRIPT_WRAPPED,       /* get_peft_model(...): gives back what it is given */
    SCRIPT_TOKENISED,     /* tokenizer(...) */
    SCRIPT_METHOD,        /* IA3Config(...): adapters of another kind */
    SCRIPT_CONFIGURATION, /* GPT2Config(...), AutoConfig.from_pretrained(...) */
    SCRIPT_LOADER,        /* DataLoader(...) */
    SCRIPT_OPTIMIZER,     /* torch.optim.AdamW(...) */
    SCRIPT_SHARDED,       /* FullyShardedDataParallel(...), fully_shard(...) */
    SCRIPT_REPLICATED,    /* DistributedDataParallel(...) */
    SCRIPT_SPREAD,        /* nn.DataParallel(...) */
    SCRIPT_AUTOCAST,      /* torch.autocast(...) */
    SCRIPT_ENGINE,        /* deepspeed.initialize(...) */
    SCRIPT_RECOMPUTED,    /* apply_activation_checkpointing(...) */
    SCRIPT_COMPILED,      /* torch.compile(...) */
    SCRIPT_DIFFUSION,     /* UNet2DConditionModel.from_pretrained(...): refused */
    SCRIPT_BACKWARD,      /* loss.backward(), fabric.backward(loss) */
    SCRIPT_CLIPPED,       /* clip_grad_norm_(model.parameters(), 1.0) */
    SCRIPT_BOOSTER,       /* Booster(plugin=...) of Colossal-AI */
    SCRIPT_CHUNKED,       /* ZeroDDP(...), GeminiDDP(...) of Colossal-AI's older API */
    SCRIPT_REMOTE,        /* @remote(...) of SageMaker's SDK */
    SCRIPT_DOWNLOADED,    /* snapshot_download(...) */
    SCRIPT_PRODUCTS,      /* torch.set_float32_matmul_precision("high") */
    SCRIPT_FROZEN,    /* parameter.requires_grad = False, model.requires_grad_(False) */
    SCRIPT_LIGHTNING, /* Trainer(...), Fabric(...) of Lightning */
    SCRIPT_HOROVOD,   /* hvd.DistributedOptimizer(...) */
    SCRIPT_HOOKED,    /* model.register_comm_hook(...) */
    SCRIPT_BACKEND,   /* init_process_group(backend="smddp") */
    SCRIPT_CAST,      /* model.half(), model.to(torch.bfloat16) */
    SCRIPT_LOSS,      /* def compute_loss(self, model, inputs), of a trainer's class */
    SCRIPT_COMPARED,  /* F.logsigmoid(...): of losses that compare answers */
    SCRIPT_STEP,      /* optimizer.step() of a loop */
    SCRIPT_DIVERGED,  /* F.kl_div(...): of distillation */
    SCRIPT_SAMPLED,   /* model.generate(...) */
    SCRIPT_SET_TRAINING, /* args.set_training(batch_size=...) of the Trainer's arguments */
    SCRIPT_SET_LOADER,     /* args.set_dataloader(train_batch_size=...) */
    SCRIPT_SET_OPTIMIZER,  /* args.set_optimizer(name=...) */
    SCRIPT_PICTURES,       /* timm.create_model("vit_base_patch16_224") */
    SCRIPT_OWN_LOADER,     /* def get_train_dataloader(self), of a trainer's class */
    SCRIPT_MERGED,         /* model.merge_and_unload(): without its adapters */
    SCRIPT_PADDED,         /* tokenizer.pad(...), DataCollatorWithPadding(...) */
    SCRIPT_OWN_OPTIMIZER,  /* def create_optimizer(self), of a trainer's class */
    SCRIPT_ATTENDS,        /* replace_llama_attn_with_flash_attn() */
    SCRIPT_UNCHECKPOINTED, /* gradient_checkpointing_disable() */
    SCRIPT_CONTINUED,      /* PeftModel.from_pretrained(...): adapters that are there */
    SCRIPT_BODY,           /* AutoModel.from_pretrained(...): without a head */
    SCRIPT_FITTED,         /* model.fit(...), optimizer.apply_gradients(...) of Keras */
    SCRIPT_PARTS
};

struct user_script {
    const struct python *python;
    const struct python_call *parts[SCRIPT_PARTS]; /* NULL: there is none */
    const struct python_call *lost;   /* LoraConfig(...) that nothing is given; NULL */
    const struct python_call *merged; /* adapters before the training; NULL: none */
    bool loose_base;                  /* the model is given more than is known */
    int n_trainers;
    const char *program; /* its path as a command names it; NULL: it is the file */
    struct value *words; /* of the rows: "per_device_train_batch_size", "lora_r" */
    struct python text;  /* of user_script_load alone */
    int64_t line; /* likewise, where it is named: all its values are there; else 0 */
};

/* How a program is started. */
struct user_script_start {
    const char *name, *text; /* of its file */
    int64_t line;            /* at which that is named: what is taken of it is there */
    const struct value *given;       /* its options (dialect/python/python.h) */
    const struct value *words;       /* of sys.argv; NULL: not known */
    const struct value *environment; /* set by who starts it; NULL: not known */
    bool plain; /* a loop of a model of its own counts, where its loader says the batch;
                   that of a command always does */
};

/* Gathers the text of a program as it is started: what it is given goes before its own
 * values. What is its own is noted with its lines. false: it is none that trains so.
 * Release it after. */
bool user_script_load(struct user_script *g, struct launch_context *t,
                      const struct user_script_start *s);
void user_script_release(struct user_script *g);

/* Whether a text has a training that is read here, whatever it is given. */
bool user_script_is_program(struct arena *arena, struct launch *l, const char *text);

/* Takes back the question of adapters that the program's text gives to nothing. */
void user_script_drop_unused(struct launch_context *t, struct user_script *g,
                             const struct user_script_start *s);

/* Reports a text that starts a trainer of rollouts by a command of its own (verl), or
 * trains convolutions; false: it does not. */
bool user_script_refuses(struct launch_context *t, const struct user_script_start *s);

/* Functions whose calls are wanted of the reader; NULL ends them. */
extern const char *const user_script_calls[], *const user_script_same[];
/* Names of functions that lengths and accumulation are looked for by. */
extern const char *const user_script_kept[];
/* Modules of a model that a text may replace. */
extern const char *const user_script_attributes[];

/* The calls of a text that make its training, by their parts; what such a call gives its
 * adapters; why it is not known how the base model is quantised; NULL: it is, or nothing
 * asks. */
void user_script_choose(struct user_script *g);
/* The call that made the adapters which set_adapter() names; NULL: nothing is seen to. */
const struct python_call *user_script_adapters_set(const struct user_script *g);
const struct value *user_script_config_of(const struct python_call *wrapped);
const char *user_script_open_base(const struct user_script *g);

/* Those calls, and their arguments. */
void user_script_gather(struct user_script *g, struct arena *arena,
                        const struct python *p);

/* user_script_starters.c: whether a call starts processes by itself; how many on how many
 * instances: false, nothing does. Before the words, a loop of nn.DataParallel. */
bool user_script_starts(const struct python_call *c);
bool user_script_take_started(struct launch_context *t, const struct user_script *g);
/* The former of a program that no other starts, whose one process it goes before. */
bool user_script_take_started_alone(struct launch_context *t,
                                    const struct user_script *g);
void user_script_take_spread(struct launch_context *t, struct user_script *g);

/* A trainer of the user's own, where neither it nor a document is given the Trainer's
 * arguments; NULL. */
const struct python_call *user_script_own_trainer(const struct user_script *g);

/* Whether a call is under a condition that is not known and asks what the user has chosen,
 * rather than what the model or the machine can do. */
bool user_script_is_chosen(const struct python_call *c);

/* Which part a call is of; SCRIPT_PARTS: it is of none. */
enum user_script_part user_script_part_of(const struct python_call *c);

/* Whether a row reads an argument of a part's call, or says that it does nothing. */
bool user_script_reads(enum user_script_part part, const char *argument);

/* What the argument of a part's call is called in the rows; "": nothing. */
const char *user_script_word(struct arena *arena, enum user_script_part part,
                             const char *argument);

/* Reports a text whose trainer evaluates alone; false: it trains. */
bool user_script_refuses_evaluation(struct launch_context *t,
                                    const struct user_script *g);

/* Names what calls are given that no row reads. */
void user_script_name_left(struct launch_context *t, const struct user_script *g);

/* user_script_model.c: classes of configurations; whether a call makes a model of one; the
 * model that is made so, where nothing was taken so far. */
extern const char *const user_script_configurations[];
bool user_script_builds(const struct python_call *c);
void user_script_take_model(struct launch_context *t, const struct user_script *g);
/* After the words: asks for it where branches that are not known make different ones. */
void user_script_ask_models(struct launch_context *t, const struct user_script *g);
/* The last call that gave a value; NULL: none did. */
const struct python_call *user_script_maker(const struct python *p,
                                            const struct value *v);
/* The call that gave the configuration which the model is given; NULL: none. */
const struct python_call *user_script_configured(const struct user_script *g);

/* Modules that are looked for. user_script_modules.c: whether a text builds a stack of
 * layers of them that is understood; user_script_stack.c: that stack, where no other model
 * is named. */
extern const char *const user_script_modules[];
bool user_script_has_stack(const struct python *p);
void user_script_take_stack(struct launch_context *t, const struct user_script *g);

/* The configuration of an id, a new reference; NULL: it is not known. What the class of
 * one calls a member: n_embd of hidden_size. */
json_t *user_script_configuration(struct launch_context *t, const char *id);
const char *user_script_own_member(struct launch_context *t, const json_t *config,
                                   const char *key);

/* user_script_pictures.c: whether a function makes a model of timm's or torchvision's;
 * that model, where no other is named; true: it is refused. */
bool user_script_is_picture(const char *function);
bool user_script_take_picture(struct launch_context *t, const struct user_script *g);
/* Of a loop that reads pictures alone the model is asked for as one of those; of a network
 * of convolutions it is refused, for this reason. */
extern const char user_script_convolutions[];
void user_script_ask_picture(struct launch_context *t, const struct user_script *g,
                             int64_t line);

/* user_script_edits.c: after the words: what a text changes of the model that it loads. */
void user_script_take_edits(struct launch_context *t, const struct user_script *g);

/* The class before ".from_pretrained". */
const char *user_script_class(struct arena *arena, const struct python_call *c);

/* user_script_text.c: the language model alone of one with pictures. */
void user_script_take_text(struct launch_context *t, const struct user_script *g);

/* user_script_loader.c: the loader of the training, NULL: there is none.
 * user_script_loop.c: before the words what shards, and in what type the weights are; after them how many microbatches a step
 * has. */
const struct python_call *user_script_loader(const struct python *p);
/* What one of the program's own is given by usual names; after the words, a note of it. */
/* Whether a value is the one that a name of the text has: the same one, not its like. */
bool user_script_is_named(const struct python *p, const struct value *v,
                          const char *const *usual);
bool user_script_is_own_loader(const struct python_call *c);
bool user_script_is_own_class(const struct python *p, const struct python_call *c);
void user_script_put_loader(struct user_script *g, struct arena *arena);
/* A loader's batch that is the program's batch times its microbatches is divided. */
void user_script_divide_batch(struct launch_context *t, const struct user_script *g);
void user_script_note_loader(struct launch_context *t, const struct user_script *g);
void user_script_take_loop(struct launch_context *t, const struct user_script *g);
void user_script_ask_weights(struct launch_context *t, const struct user_script *g);
/* Whether a call is an optimizer's step(). */
bool user_script_steps(const struct python *p, const struct python_call *c);
void user_script_take_accumulation(struct launch_context *t,
                                   const struct user_script *g);

/* FSDP's arguments, as `name` at a line. */
void user_script_take_sharded(struct launch_context *t, const struct user_script *g,
                              const struct value *arguments, const char *name,
                              int64_t line);

/* user_script_assigned.c: words that the __init__ of the trainer's class sets; after the
 * words, questions of those that are set later. */
void user_script_put_assigned(struct user_script *g, struct arena *arena);
void user_script_ask_assigned(struct launch_context *t, const struct user_script *g);

/* user_script_keras.c: whether TensorFlow trains the model; what its program says before
 * the words; the class of PyTorch that has one's head. */
bool user_script_is_keras(const struct user_script *g);
void user_script_take_keras(struct launch_context *t, struct user_script *g);
const char *user_script_torch_class(const char *class);

/* user_script_engine.c: the configuration of deepspeed.initialize(). */
void user_script_take_engine(struct launch_context *t, const struct user_script *g);

/* user_script_mesh.c: after the loop, what a mesh of devices says of its shards, and that
 * the text divides layers, stages or sequences itself. */
void user_script_take_mesh(struct launch_context *t, const struct user_script *g);

/* user_script_gradients.c: likewise DistributedDataParallel's; Horovod's optimizer, and a
 * hook that is registered. */
void user_script_take_replicated(struct launch_context *t,
                                 const struct value *arguments, const char *name,
                                 int64_t line);
void user_script_take_gradients(struct launch_context *t, const struct user_script *g);

/* user_script_lightning.c: its precision and DeepSpeed's configuration as words; what
 * shards or replicates; how many GPUs and nodes it starts on, where no starter says it;
 * false: it is not there. It is given first what `fabric run` says and it does not. */
void user_script_give_lightning(struct launch_context *t, const struct python *p);
void user_script_put_lightning(struct user_script *g, struct arena *arena);
void user_script_take_lightning(struct launch_context *t, const struct user_script *g);
bool user_script_take_lightning_devices(struct launch_context *t,
                                        const struct user_script *g);

/* What `fabric run` says of a program whose text is not there, or has no Fabric(). */
void user_script_take_fabric(struct launch_context *t);

/* The argument of a call, by name or place; NULL. */
const struct value *user_script_given(const struct python_call *c, const char *name,
                                      const char *place);

/* A word; what was there before goes before, unless it is none or, `on`, switched off. */
void user_script_put(struct user_script *g, struct arena *arena, const char *key,
                     int64_t line, struct value *v, bool on);
void user_script_put_true(struct user_script *g, struct arena *arena, const char *key,
                          int64_t line, bool on);

/* user_script_kernels.c: words of calls that change what kernels run; after the words what
 * is not simulated of them, SDPA's switches, and layers that cast their own weights. */
void user_script_put_kernels(struct user_script *g, struct arena *arena);
void user_script_take_kernels(struct launch_context *t, const struct user_script *g);
void user_script_take_casts(struct launch_context *t, const struct user_script *g);

/* user_script_remote.c: the instances of a function that SageMaker's SDK runs, and how
 * many processes; false: there is none. */
bool user_script_take_remote(struct launch_context *t, const struct user_script *g);

/* A model that is loaded from a directory to which the text copies it is that one. */
void user_script_name_copied(struct user_script *g, struct arena *arena);
/* whisper.load_model("small") of openai-whisper: openai/whisper-small of the hub. */
void user_script_name_whisper(struct user_script *g, struct arena *arena);

/* user_script_unsloth.c: what Unsloth has for arguments that are left out, and what of it
 * is not simulated. Nothing where the model is loaded by others. */
bool user_script_is_unsloth(const struct user_script *g);
void user_script_put_unsloth(struct user_script *g, struct arena *arena);
void user_script_note_unsloth(struct launch_context *t, const struct user_script *g);

/* user_script_document.c: adds what rows read of a section ("": of the document) and of
 * its sections; a name that two sections have is not known. The sections of a document
 * in the place of which their values are put, with a note. */
void user_script_add_leaves(struct launch_context *t, const char *section,
                            const struct value *dict, struct value *to);
void user_script_open_document(struct launch_context *t, struct value *all);
/* Options by the very names that the command has: what the rows take for a beginning of
 * the Trainer's may be a name of the program's own. */
struct launch_command;
void user_script_add_written(struct launch_context *t, const struct launch_command *c,
                             struct value *given);
/* Options from the n-th on are none of the training's: the document's keys are. */
void user_script_drop_from(struct user_script *g, const struct value *given, int32_t n);
extern const char *const user_script_guesses[];
/* user_script_cli.c: whether a document is LightningCLI's; its calls, gathered. */
bool user_script_recognises_cli(const struct value *root);
void user_script_open_cli(struct launch_context *t, const struct value *root,
                          struct user_script *g);
/* A program's own document alone: a section of it has the Trainer's batch, or it is
 * LightningCLI's. */
bool user_script_recognises_document(const struct dialect_input *in);
void user_script_read_document(struct launch_context *t,
                               const struct dialect_input *in);

/* user_script_own.c: after all others, degrees by which a program of that name divides
 * its work in a way of its own; before, whether a model or an option is of a second
 * model, which is reported. `given`: options without "--", or NULL. */
void user_script_take_own(struct launch_context *t, const struct user_script *g,
                          const struct value *given, const char *program);
/* The former of options alone. */
void user_script_ask_degrees(struct launch_context *t, const struct value *options,
                             const char *program, int64_t line);
/* Both of a job's hyperparameters, whose program is not there; true: it is refused. */
bool user_script_take_job_own(struct launch_context *t, const char *program);
bool user_script_refuses_options(struct launch_context *t, const struct value *given,
                                 const char *program);
bool user_script_refuses_second(struct launch_context *t, const struct user_script *g,
                                const struct value *given, const char *program);

/* Before the head is taken, where no trainer says the method: a loss of the text's own that
 * compares answers, or a model that is bound to a reference's name. The task is asked for
 * then: true. */
bool user_script_ask_compared(struct launch_context *t, const struct user_script *g);
/* Whether a name has such a part between "_" and dots: "ref_model", "self.model_ref". */
bool user_script_is_reference(const char *name); /* or NULL */
/* What has a usual name: a name of the text, an argument of its command, a name of its
 * functions, a field of its classes, where they agree; 1 and more. NULL: nothing. */
const struct value *user_script_usual(const struct python *p, const char *name);
/* user_script_joined.c: how many tokens the text leaves out at the end of what a tokenizer's
 * call gave; the call whose texts it joins to those, NULL. */
int64_t user_script_left_out(struct arena *arena, const struct python *p,
                             const struct python_call *c);
const struct python_call *user_script_joined(struct arena *arena,
                                             const struct python *p,
                                             const struct python_call *c);
/* Whether an optimizer's call divides its states among DDP's ranks
 * (torch/distributed/optim/zero_redundancy_optimizer.py, PyTorch 2.8). */
bool user_script_divides(const struct python_call *c);
/* user_script_optimizer.c: after the words, what of a loop's optimizer is not known; the
 * word of it. */
void user_script_ask_optimizer(struct launch_context *t, const struct user_script *g);
/* After the words: names a copy of the weights that is their average. */
void user_script_take_averages(struct launch_context *t, const struct user_script *g);
void user_script_put_optimizer(struct user_script *g, struct arena *arena);
/* Before its arguments: the word of what a trainer has in the place of theirs; whether
 * that is known. */
void user_script_put_trainer_optimizer(struct user_script *g, struct arena *arena);
bool user_script_knows_optimizer(const struct user_script *g);
/* What a scenario calls the optimizer of a class: "" where none has its states; NULL: it is
 * no optimizer's. */
const char *user_script_optimizer_word(const char *class);
/* user_script_named.c: the first class of an optimizer with other states than AdamW's that a
 * text makes, by its words alone; NULL. And the question whether it is the training's. */
const char *user_script_other_optimizer(struct arena *arena, const char *text);
void user_script_ask_other_optimizer(struct launch_context *t, const char *class,
                                     const char *file, int64_t line);

/* Whether the calls of a text so far have a trainer or a loop. */
bool user_script_is_enough(const struct python *p);

/* Whether a text has a training: of a trainer, or a loop of its own. */
bool user_script_trains(const struct user_script *g);

/* user_script_plain.c: whether a text has a loop that trains a model of its own; before
 * the rest is taken, or after it, the batch of a loop whose calls do not say it is asked for, since
 * the Trainer's default is none of it; after it, what else such a loop leaves open. */
bool user_script_loops(const struct user_script *g);
void user_script_ask_batch(struct launch_context *t, const struct user_script *g);
/* Names that a GPU's batch often has; NULL ends them. */
extern const char *const user_script_batches[], *const user_script_lengths[];
/* Of a loop that nothing starts, whether it is one process. */
void user_script_take_alone(struct launch_context *t, const struct user_script *g,
                            int64_t line);
void user_script_ask_plain(struct launch_context *t, const struct user_script *g);
/* user_script_propose.c */
void user_script_propose_model(struct launch_context *t, const struct user_script *g,
                               int64_t line);

/* After the words, asks which adapters PeftModel.from_pretrained(...) loads, where the text
 * makes none. */
void user_script_ask_continued(struct launch_context *t, const struct user_script *g);
/* What is proposed where a call gives the model adapters that are not known. */
void user_script_propose_adapters(struct launch_context *t,
                                  const struct user_script *g);

/* user_script_frozen.c: after the words, asks which parameters a text freezes, unless it
 * trains adapters. */
void user_script_ask_frozen(struct launch_context *t, const struct user_script *g);
/* Likewise what is trained next to adapters; that adapters are merged before. */
void user_script_ask_unfrozen(struct launch_context *t, const struct user_script *g);
void user_script_note_merged(struct launch_context *t, const struct user_script *g);

/* After the words: the length at which the text's calls of tokenizers cut, or the
 * number that it binds to a usual name. */
void user_script_take_lengths(struct launch_context *t, const struct user_script *g);
/* Before them: the length to which the text pads what it gives a trainer of TRL's, which
 * has a default of its own. */
void user_script_take_padded(struct launch_context *t, const struct user_script *g);

/* The former of a text that prepares the data of another program: its calls before that
 * line, else those of the scripts that the notebook has written until then. */
void user_script_take_tokenised(struct launch_context *t, const struct python *p,
                                int64_t before);

/* What of the program trains: "SFT" of SFTTrainer or SFTConfig, "" the Trainer's own; NULL:
 * nothing does. */
const char *user_script_method(struct arena *arena, const struct user_script *g);

/* Takes what the words say, after hyperparameters that go before them. */
void user_script_take(struct launch_context *t, struct user_script *g);

struct launch_command;
void user_script_read_unknown(struct launch_context *t, const struct launch_command *c,
                              struct value *accelerate);
/* Whether a text imports Megatron, or what copies of it have: its loop is pretrain()'s, and
 * its options are Megatron's, also where the package is next to it. */
bool user_script_is_of_megatron(const char *text);
bool user_script_is_of_torchtitan(const struct launch_command *c, const char *text);
bool user_script_recognises_command(const struct dialect_input *in);
void user_script_read_command(struct launch_context *t, const struct launch_command *c);

/* What a document or a command decides that is not there is asked for: the batch, the
 * length and the precision, unless they are known by now. */
void user_script_ask(struct launch_context *t, int64_t line, const char *why);

bool user_script_recognises(const struct dialect_input *in);
void user_script_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table user_script_tables[];

#endif
